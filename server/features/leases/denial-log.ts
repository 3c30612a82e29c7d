// Records refusals: collected in memory, so that refusing is fast, and written within a second.
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
import type { LeaseStore } from './lease-store.ts';
import type { LeaseUsageStore } from './lease-usage-store.ts';
import type { PoolStore } from './pool-store.ts';
import { hourOf } from './usage-meter.ts';

const FLUSH_MS = 500;
/** A flood of refusals beyond this is counted, not described. */
const MAX_WAITING = 5000;
const SHOWN_HOLDERS = 100;
/** `lease.denied` is sent at most this often for a license, with the number of refusals since. */
const ANNOUNCE_EVERY_MS = 60_000;
const MAX_SNAPSHOTS = 1000;

interface Denial {
  code: DenialCode;
  /** Null if no rule was asked. */
  verdict: LeaseVerdict | null;
  pool: PoolObject;
  license: License;
  /** The pool's version, by which its holders are read only once. */
  version: number;
}

/** Refusals of one license since the last write. */
interface Waiting {
  license: License;
  rows: Omit<DenialRow, 'id'>[];
  count: number;
}

interface Batch {
  denials: Waiting[];
  /** How many refusals have rows, or will have. */
  described: number;
}

interface Snapshot {
  version: number;
  holders: Promise<{ list: SeatHolder[]; count: number }>;
}

/** Seats that were wanted at once: in use, waited for, and refused to different clients within half a second. */
function neededSeats({ rows }: Waiting): number {
  const pools = rows.map(({ pool }) => JSON.parse(pool) as PoolObject);
  const wanted = new Map(
    rows
      .filter(({ errorCode }) => errorCode === 'no_seat_available')
      .map(({ instanceId, units }) => [instanceId, units]),
  );
  if (wanted.size === 0) return 0;
  const units = [...wanted.values()].reduce((sum, each) => sum + each, 0);
  return units + Math.max(...pools.map(({ in_use, queued }) => in_use + queued));
}

export interface DenialLog {
  record(claim: Omit<LeaseDraft, 'leaseSeconds'>, denial: Denial): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface Needs {
  store: LeaseDenialStore;
  leases: Pick<LeaseStore, 'holders' | 'countHolders'>;
  pools: Pick<PoolStore, 'announceDenials'>;
  usage: Pick<LeaseUsageStore, 'add'>;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  onChanged(): void;
  /** Called when a write fails. Its refusals are kept for the next one. */
  onError(error: unknown): void;
}

export function createDenialLog(needs: Needs): DenialLog {
  const { store, leases, pools, usage, events, transaction, clock, onChanged, onError } = needs;
  const snapshots = recentMap<number, Snapshot>(MAX_SNAPSHOTS);
  let waiting = new Map<number, Waiting>();
  let described = 0;

  /** Who holds the seats. A flood of refusals does not change the pool, so it is read once. */
  function holdersOf(licenseId: number, version: number): Snapshot['holders'] {
    const known = snapshots.get(licenseId);
    if (known?.version === version) return known.holders;
    const holders = Promise.all([
      leases.holders(licenseId, SHOWN_HOLDERS),
      leases.countHolders(licenseId),
    ]).then(([list, count]) => ({ list: list.map((holder) => toHolder(holder)), count }));
    // A failed read must not be remembered.
    holders.catch(() => snapshots.set(licenseId, { version: -1, holders }));
    snapshots.set(licenseId, { version, holders });
    return holders;
  }

  /** One event for the first refusal, then at most one a minute. */
  async function announce({ license, rows, count }: Waiting, at: number): Promise<void> {
    const total = await pools.announceDenials(license.id, count, at, at - ANNOUNCE_EVERY_MS);
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
        denials: [...waiting.values()].toSorted((a, b) => a.license.id - b.license.id),
        described,
      };
      waiting = new Map();
      described = 0;
      return taken;
    },
    async write(taken) {
      await transaction(async () => {
        const at = clock.now();
        for (const denials of taken.denials) {
          for (const row of denials.rows) await store.insert(row);
          const { license, count: denied } = denials;
          const use = { peak: 0, needed: neededSeats(denials), seatMs: 0, denied, queued: 0 };
          // The pool first, as everywhere: two locks in different orders could wait for each other.
          await announce(denials, at);
          await usage.add({ licenseId: license.id, hour: hourOf(at), ...use });
        }
        await store.prune(taken.denials.map(({ license }) => license.id));
      });
      onChanged();
    },
    putBack(taken) {
      described += taken.described;
      for (const denials of taken.denials) {
        const since = waiting.get(denials.license.id);
        const rows = [...denials.rows, ...(since?.rows ?? [])];
        waiting.set(denials.license.id, { ...denials, rows, count: denials.count + (since?.count ?? 0) });
      }
    },
    onError,
  });

  return {
    async record(claim, { code, verdict, pool, license, version }) {
      const createdAt = clock.now();
      const isDescribed = described < MAX_WAITING;
      if (isDescribed) described += 1;
      const holders = isDescribed ? await holdersOf(license.id, version) : null;
      const of = waiting.get(license.id) ?? { license, rows: [], count: 0 };
      of.count += 1;
      waiting.set(license.id, of);
      schedule();
      if (!holders) return;
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
        holders: JSON.stringify(holders.list),
        holderCount: holders.count,
      });
    },
    flush,
    close,
  };
}
