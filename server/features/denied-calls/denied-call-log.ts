// Notes denied calls in memory, so that denying one takes no longer, and writes them together within five seconds.
import { createDelayedWrite } from '#server/database/delayed-write.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { DenialReason } from './denial-reason-contract.ts';
import type { DeniedCallName } from './denied-call-contract.ts';
import type { DeniedCallRow, DeniedCallStore } from './denied-call-store.ts';

const FLUSH_MS = 5000;
/** Different calls that one write describes: of a license, and of all. More of them are not described. */
const MAX_PER_LICENSE = 50;
const MAX_WAITING = 1000;
/** So many written rows later, the oldest of all are removed. */
const PRUNE_EVERY = 1000;

export interface DeniedCall {
  licenseId: number;
  call: DeniedCallName;
  errorCode: DenialReason;
  machineFingerprint?: string | undefined;
  product?: string | undefined;
  feature?: string | undefined;
  address?: string | undefined;
}

interface Needs {
  store: Pick<DeniedCallStore, 'add' | 'pruneLicense' | 'pruneAll'>;
  transaction: RunTransaction;
  clock: Clock;
  onChanged(): void;
  /** Called when a write fails. Its calls are kept for the next one. */
  onError(error: unknown): void;
}

export interface DeniedCallLog {
  record(denied: DeniedCall): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

function toRow(denied: DeniedCall, now: number): DeniedCallRow {
  const { licenseId, call, errorCode } = denied;
  return {
    licenseId,
    day: toTimestamp(now).slice(0, 10),
    call,
    errorCode,
    machineFingerprint: denied.machineFingerprint ?? '',
    product: denied.product ?? '',
    feature: denied.feature ?? '',
    address: denied.address ?? '',
    count: 1,
    firstAt: now,
    lastAt: now,
  };
}

/** The same for calls that share a row. The feature comes last, because it can be any text. */
function keyOf({ day, call, errorCode, machineFingerprint, product, address, feature }: DeniedCallRow) {
  return `${day} ${call} ${errorCode} ${machineFingerprint} ${product} ${address} ${feature}`;
}

export function createDeniedCallLog(needs: Needs): DeniedCallLog {
  const { store, transaction, clock, onChanged, onError } = needs;
  let waiting = new Map<number, Map<string, DeniedCallRow>>();
  let described = 0;
  let unpruned = 0;

  function note(row: DeniedCallRow): void {
    let rows = waiting.get(row.licenseId);
    const key = keyOf(row);
    const known = rows?.get(key);
    if (known) {
      known.count += row.count;
      known.firstAt = Math.min(known.firstAt, row.firstAt);
      known.lastAt = Math.max(known.lastAt, row.lastAt);
      return;
    }
    if (described >= MAX_WAITING || (rows && rows.size >= MAX_PER_LICENSE)) return;
    if (!rows) waiting.set(row.licenseId, (rows = new Map()));
    rows.set(key, row);
    described += 1;
  }

  const { schedule, flush, close } = createDelayedWrite<DeniedCallRow[]>({
    delayMs: FLUSH_MS,
    take() {
      if (described === 0) return null;
      const rows = [...waiting.values()].flatMap((of) => [...of.values()]);
      waiting = new Map();
      described = 0;
      return rows;
    },
    async write(rows) {
      const prunesAll = unpruned + rows.length >= PRUNE_EVERY;
      await transaction(async () => {
        for (const row of rows) await store.add(row);
        for (const licenseId of new Set(rows.map((row) => row.licenseId)))
          await store.pruneLicense(licenseId);
        if (prunesAll) await store.pruneAll();
      });
      unpruned = prunesAll ? 0 : unpruned + rows.length;
      onChanged();
    },
    putBack(rows) {
      for (const row of rows) note(row);
    },
    onError,
  });

  return {
    record(denied) {
      note(toRow(denied, clock.now()));
      schedule();
    },
    flush,
    close,
  };
}
