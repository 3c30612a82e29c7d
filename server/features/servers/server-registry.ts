// The list of servers that use the same database: each reports to it every two seconds.
import { randomUUID } from 'node:crypto';
import type { Clock } from '#server/platform/clock.ts';
import { freshFlight } from '#server/platform/single-flight.ts';
import type { ServerAlerts } from './server-alerts.ts';
import type { ServerObject } from './server-contract.ts';
import { fullName, LOST_AFTER_MS, stateOf, toServerObject } from './server-state.ts';
import type { ServerReport, ServerRow, ServerStore } from './server-store.ts';

const REPORT_EVERY_MS = 2000;
/** A lost server is shown for this long. */
const FORGET_AFTER_MS = 3_600_000;

type Current = Pick<
  ServerReport,
  'state' | 'isLeader' | 'clockSkewMs' | 'databaseMs' | 'crlNumber' | 'replica' | 'replicaLagMs'
>;

interface Needs {
  /** Null for a server that shares its database with no other. */
  store: ServerStore | null;
  self: Pick<ServerReport, 'name' | 'version' | 'schemaName'>;
  current(): Current;
  clock: Clock;
  alerts: ServerAlerts;
  /** Called when an administrator would see a difference. */
  onChanged(): void;
  /** Called when another server serves a newer CRL than this one. */
  onOlderCrl(): void;
}

export interface ServerRegistry {
  list(): Promise<{ items: ServerObject[] }>;
  /** Names of the other ready servers whose newest CRL is older. */
  behind(crlNumber: number): Promise<string[]>;
  /** Call it once the server accepts requests. @param address of its API listener */
  join(address: string): void;
  /** Reports a change now. Never rejects. */
  report(): Promise<void>;
  /** Under which this server reports; null while it does not. */
  ownId(): string | null;
  /** Takes this server off the list. Never rejects. */
  leave(): Promise<void>;
}

const visiblePartOf = (row: ServerRow) => [
  row.id,
  stateOf(row),
  row.isLeader,
  row.version,
  row.crlNumber,
  row.replica,
  Math.round(row.clockSkewMs / 1000),
];

export function createServerRegistry(needs: Needs): ServerRegistry {
  const { store, clock, alerts } = needs;
  let me: Omit<ServerReport, keyof Current> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let shown = '';
  let reportedAt = -Infinity;
  /** Since when this server has reported without a gap. */
  let steadySince = -Infinity;

  function note(rows: readonly ServerRow[], reported: ServerReport): void {
    const now = performance.now();
    if (now - reportedAt > LOST_AFTER_MS) steadySince = now;
    reportedAt = now;
    // While the database did not answer, no server could report.
    alerts.check(rows, now - steadySince > LOST_AFTER_MS);
    const visible = JSON.stringify(rows.map((row) => visiblePartOf(row)));
    if (visible !== shown) needs.onChanged();
    shown = visible;
    const newest = Math.max(...rows.map(({ crlNumber }) => crlNumber ?? 0));
    if (newest > (reported.crlNumber ?? 0)) needs.onOlderCrl();
  }

  const read = async (shared: ServerStore): Promise<ServerRow[]> => {
    if (!me) return shared.list();
    const reported = { ...me, ...needs.current() };
    await shared.report(reported);
    const rows = await shared.list();
    note(rows, reported);
    if (reported.isLeader && rows.some(({ silentMs }) => silentMs > FORGET_AFTER_MS))
      await shared.forgetSilent(FORGET_AFTER_MS);
    return rows;
  };

  /** Each caller gets a state that includes what this server reports after the call. */
  const readShared = store && freshFlight(() => read(store));

  async function readAll(): Promise<ServerRow[]> {
    if (readShared) return readShared();
    if (!me) return [];
    const { isLeader, ...current } = needs.current();
    return [{ ...me, ...current, isLeader: isLeader ? 1 : 0, lastSeenAt: clock.now(), silentMs: 0 }];
  }

  async function report(): Promise<void> {
    if (me) await readShared?.().catch(() => {});
  }

  return {
    report,
    ownId: () => me?.id ?? null,
    list: async () => ({ items: (await readAll()).map((row) => toServerObject(row, me?.id ?? null)) }),
    behind: async (crlNumber) =>
      (await readAll())
        .filter((row) => row.id !== me?.id && stateOf(row) === 'ready' && (row.crlNumber ?? 0) < crlNumber)
        .map((row) => fullName(row)),
    join(address) {
      me = { ...needs.self, id: randomUUID(), address, startedAt: clock.now() };
      if (!store) return;
      timer = setInterval(() => void report(), REPORT_EVERY_MS).unref();
      void store
        .replace({ ...me, ...needs.current() })
        .catch(() => {})
        .then(report);
    },
    async leave() {
      const left = me;
      clearInterval(timer);
      me = null;
      // Waits for a report in progress, which would bring the server back.
      await readShared?.().catch(() => {});
      if (left) await store?.remove(left.id).catch(() => {});
    },
  };
}
