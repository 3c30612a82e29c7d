// Records denials: collected in memory, so that denying is fast, and written within a second.
import { createDelayedWrite } from '#server/database/delayed-write.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Events } from '#server/features/events/event-service.ts';
import type { License } from '#server/rules/license.ts';
import type { Clock } from '#server/platform/clock.ts';
import { recentMap } from '#server/platform/recent-map.ts';
import type { DenialCode, SeatHolder } from './lease-admin-contract.ts';
import type { PoolObject } from './lease-contract.ts';
import type { DenialRow, LeaseDenialStore } from './lease-denial-store.ts';
import type { LeaseDraft } from './lease-draft.ts';
import type { LeaseVerdict } from './lease-judge.ts';
import { toHolder } from './lease-presenter.ts';
import { isShareable } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import type { LeaseUsageStore } from './lease-usage-store.ts';
import type { PoolStore } from './pool-store.ts';
import { hourOf, neededSeats } from './usage-meter.ts';

const FLUSH_MS = 500;
/** A flood of denials beyond this is counted, not described. */
const MAX_WAITING = 5000;
const SHOWN_HOLDERS = 100;
/** `lease.denied` is sent at most this often for a license, with the number of denials since. */
const ANNOUNCE_EVERY_MS = 60_000;
const MAX_SNAPSHOTS = 1000;

type Claim = Omit<LeaseDraft, 'leaseSeconds'>;

interface Denial {
  code: DenialCode;
  /** Null if no rule was asked. */
  verdict: LeaseVerdict | null;
  pool: PoolObject;
  license: License;
  /** The pool's version, by which its holders are read only once. */
  version: number;
}

/** Refusals of one license in one hour since the last write. */
interface Waiting {
  license: License;
  hour: number;
  rows: Omit<DenialRow, 'id'>[];
  count: number;
  /** Units of each seat that were refused, in addition to those that other leases held of it. */
  refused: Map<string, number>;
  /** The pool each time that it had changed. */
  pools: Set<PoolState>;
}

interface Batch {
  denials: Waiting[];
  /** How many denials have rows, or will have. */
  described: number;
}

/** What a denial found. */
interface PoolState {
  holders: SeatHolder[];
  holderCount: number;
  inUse: number;
  /** Units of each seat that clients waited for. */
  wanted: ReadonlyMap<string, number>;
}

interface Snapshot {
  version: number;
  state: Promise<PoolState>;
}

const noDenials = (license: License, hour: number): Waiting => ({
  license,
  hour,
  rows: [],
  count: 0,
  refused: new Map(),
  pools: new Set(),
});

function raise(units: Map<string, number>, seatKey: string, to: number): void {
  units.set(seatKey, Math.max(to, units.get(seatKey) ?? 0));
}

const keyOf = ({ license, hour }: Pick<Waiting, 'license' | 'hour'>) => `${license.id} ${hour}`;

/** Refusals of the same license and hour. */
function together(earlier: Waiting, later: Waiting): Waiting {
  const refused = new Map(earlier.refused);
  for (const [seatKey, units] of later.refused) raise(refused, seatKey, units);
  return {
    license: earlier.license,
    hour: earlier.hour,
    rows: [...earlier.rows, ...later.rows],
    count: earlier.count + later.count,
    refused,
    pools: new Set([...earlier.pools, ...later.pools]),
  };
}

/** Seats that were wanted at once: in use, waited for, and refused to different clients within half a second. */
function mostNeeded({ refused, pools }: Waiting): number {
  if (refused.size === 0) return 0;
  return Math.max(...Array.from(pools, ({ inUse, wanted }) => neededSeats(inUse, wanted, refused)));
}

export interface DenialLog {
  record(claim: Claim, denial: Denial): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface Needs {
  store: LeaseDenialStore;
  leases: Pick<LeaseStore, 'holders' | 'countHolders' | 'seatUnits' | 'wantedUnits'>;
  pools: Pick<PoolStore, 'announceDenials' | 'lock'>;
  usage: Pick<LeaseUsageStore, 'add'>;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  /** Without jumps that are not trusted. */
  steadyClock: Clock;
  onChanged(): void;
  /** Called when a write fails. Its denials are kept for the next one. */
  onError(error: unknown): void;
}

export function createDenialLog(needs: Needs): DenialLog {
  const { store, leases, pools, usage, events, transaction, clock, steadyClock, onChanged, onError } = needs;
  const snapshots = recentMap<number, Snapshot>(MAX_SNAPSHOTS);
  /** By license and hour. */
  let waiting = new Map<string, Waiting>();
  let described = 0;

  /** A flood of denials does not change the pool, so it is read once. */
  function stateOf(licenseId: number, { version, pool }: Denial): Snapshot['state'] {
    const known = snapshots.get(licenseId);
    if (known?.version === version) return known.state;
    const state = Promise.all([
      leases.holders(licenseId, SHOWN_HOLDERS),
      leases.countHolders(licenseId),
      leases.wantedUnits(licenseId),
    ]).then(([list, holderCount, wanted]) => ({
      holders: list.map((holder) => toHolder(holder)),
      holderCount,
      inUse: pool.in_use,
      wanted,
    }));
    // A failed read must not be remembered.
    state.catch(() => snapshots.set(licenseId, { version: -1, state }));
    snapshots.set(licenseId, { version, state });
    return state;
  }

  /** Units of the seat that the client lacks. */
  async function missingUnits({ licenseId, seatKey, units }: Claim): Promise<number> {
    const held = isShareable(seatKey) ? await leases.seatUnits(licenseId, seatKey) : 0;
    return Math.max(0, units - held);
  }

  /** One event for the first denial, then at most one a minute. */
  async function announce({ license, rows, count }: Waiting): Promise<void> {
    // Creates the pool if no seat has been taken before: denials are counted there.
    await pools.lock(license.id, steadyClock.now());
    // The time is read after the lock, which another server may have held while it announced its own.
    const total = await pools.announceDenials(license.id, count, clock.now(), ANNOUNCE_EVERY_MS);
    const last = rows.at(-1);
    if (total === null || !last) return;
    await events.emit({
      name: 'lease.denied',
      license,
      ...(last.machineFingerprint === null ? {} : { machineFingerprint: last.machineFingerprint }),
      extra: {
        error_code: last.errorCode,
        rule: last.rule,
        user: last.userName,
        host: last.host,
        units: last.units,
        denied_count: total,
        pool: JSON.parse(last.pool) as PoolObject,
      },
    });
  }

  const { schedule, flush, close } = createDelayedWrite<Batch>({
    delayMs: FLUSH_MS,
    take() {
      if (waiting.size === 0) return null;
      const taken = {
        denials: [...waiting.values()].toSorted((a, b) => a.license.id - b.license.id || a.hour - b.hour),
        described,
      };
      waiting = new Map();
      described = 0;
      return taken;
    },
    async write(taken) {
      await transaction(async () => {
        for (const denials of taken.denials) {
          for (const row of denials.rows) await store.insert(row);
          const { license, hour, count: denied } = denials;
          const use = { peak: 0, needed: mostNeeded(denials), seatMs: 0, denied, queued: 0 };
          // The pool first, as everywhere: two locks in different orders could wait for each other.
          await announce(denials);
          await usage.add({ licenseId: license.id, hour, ...use });
        }
        await store.prune(taken.denials.map(({ license }) => license.id));
      });
      onChanged();
    },
    putBack(taken) {
      described += taken.described;
      for (const denials of taken.denials) {
        const since = waiting.get(keyOf(denials));
        waiting.set(keyOf(denials), since ? together(denials, since) : denials);
      }
    },
    onError,
  });

  return {
    async record(claim, denial) {
      const { code, verdict, pool, license } = denial;
      const createdAt = clock.now();
      // When it is written, another hour may have begun.
      const hour = hourOf(steadyClock.now());
      const isDescribed = described < MAX_WAITING;
      if (isDescribed) described += 1;
      const state = isDescribed ? await stateOf(license.id, denial) : null;
      const missing = state && code === 'no_seat_available' ? await missingUnits(claim) : 0;
      const of = waiting.get(keyOf({ license, hour })) ?? noDenials(license, hour);
      of.count += 1;
      waiting.set(keyOf(of), of);
      schedule();
      if (!state) return;
      if (missing > 0) {
        raise(of.refused, claim.seatKey, missing);
        of.pools.add(state);
      }
      const rule = verdict === null || verdict.outcome === 'allowed' ? null : verdict;
      const { licenseId, instanceId, userName, userKey, host, hostKey, address } = claim;
      const { machineFingerprint, feature, units } = claim;
      of.rows.push({
        licenseId,
        instanceId,
        userName,
        userKey,
        host,
        hostKey,
        address,
        machineFingerprint,
        feature,
        units,
        createdAt,
        errorCode: code,
        ruleId: rule?.ruleId ?? null,
        rule: rule?.rule ?? null,
        pool: JSON.stringify(pool),
        holders: JSON.stringify(state.holders),
        holderCount: state.holderCount,
      });
    },
    flush,
    close,
  };
}
