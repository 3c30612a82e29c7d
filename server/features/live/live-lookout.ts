// Changes that nobody tells of: what other servers on the database do, and how the service is.
import { LIVE_TOPICS, type LiveTopic } from './live-contract.ts';
import type { LiveStore, RecentRow } from './live-store.ts';
import { topicsOfAction } from './live-topics.ts';

/**
 * Looked at each time, seen or not: a transaction that began early may commit late, and then has a lower id than what
 * was seen before it.
 */
const WINDOW = 100;

interface Needs {
  /** Null where this process is the only one that writes. */
  recent: LiveStore | null;
  /** A text that changes with the health of the service; never rejects. */
  readHealth(): Promise<string>;
}

const keyOf = ({ kind, id }: RecentRow): string => `${kind} ${id}`;

function topicsOfRow({ kind, action }: RecentRow): LiveTopic[] {
  if (kind === 'notice') return ['events', 'deliveries', 'licenses'];
  return kind === 'attempt' ? ['deliveries', 'webhooks'] : topicsOfAction(action ?? '');
}

/** What this server did itself is found, too, and told a second time; that costs a listener one look. */
export function createLookout({ recent, readHealth }: Needs) {
  let seen = new Set<string>();
  let health = '';

  async function lookAtDatabase(): Promise<LiveTopic[]> {
    if (!recent) return [];
    const rows = await recent.listRecent(WINDOW);
    const fresh = rows.filter((row) => !seen.has(keyOf(row)));
    seen = new Set(rows.map((row) => keyOf(row)));
    // So many that others may be out of sight.
    if (fresh.filter(({ kind }) => kind === 'audit').length === WINDOW) return [...LIVE_TOPICS];
    return fresh.flatMap((row) => topicsOfRow(row));
  }

  return async function look(isFirst: boolean): Promise<Set<LiveTopic>> {
    const before = health;
    health = await readHealth();
    const topics = new Set<LiveTopic>(health === before ? [] : ['health']);
    // While the database does not answer, that is told as health; the next look finds what this one missed.
    for (const topic of await lookAtDatabase().catch(() => [])) topics.add(topic);
    return isFirst ? new Set() : topics;
  };
}
