// Detects changes that this process does not report: those of other servers on the database, and the health of the
// service.
import { LIVE_TOPICS, type LiveTopic } from './live-contract.ts';
import type { LiveStore, RecentRow } from './live-store.ts';
import { topicsOfAction } from './live-topics.ts';

/** Reread each time: a transaction that began early may commit late, with a lower ID than rows already seen. */
const WINDOW = 100;

interface Needs {
  /** Null if this process is the only writer. */
  recent: LiveStore | null;
  /** A text that changes with the health of the service; never rejects. */
  readHealth(): Promise<string>;
}

const keyOf = ({ kind, id }: RecentRow): string => `${kind} ${id}`;

function topicsOfRow({ kind, action }: RecentRow): LiveTopic[] {
  if (kind === 'notice') return ['events', 'deliveries', 'licenses'];
  return kind === 'attempt' ? ['deliveries', 'webhooks'] : topicsOfAction(action ?? '');
}

/** Also finds and reports this server's own changes again, which costs each listener one reload. */
export function createLookout({ recent, readHealth }: Needs) {
  let seen = new Set<string>();
  let health = '';

  async function lookAtDatabase(): Promise<LiveTopic[]> {
    if (!recent) return [];
    const rows = await recent.listRecent(WINDOW);
    const fresh = rows.filter((row) => !seen.has(keyOf(row)));
    seen = new Set(rows.map((row) => keyOf(row)));
    // A full window may hide further changes.
    if (fresh.filter(({ kind }) => kind === 'audit').length === WINDOW) return [...LIVE_TOPICS];
    return fresh.flatMap((row) => topicsOfRow(row));
  }

  return async function look(isFirst: boolean): Promise<Set<LiveTopic>> {
    const before = health;
    health = await readHealth();
    const topics = new Set<LiveTopic>(health === before ? [] : ['health']);
    // If the database does not answer, the health topic reports it, and the next look finds what this one missed.
    for (const topic of await lookAtDatabase().catch(() => [])) topics.add(topic);
    return isFirst ? new Set() : topics;
  };
}
