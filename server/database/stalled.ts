// Bounds what a connection to PostgreSQL that no longer answers holds up, while the others do.
import type { PostgresConnection } from './postgres-connection.ts';

/** What waits in line does not wait longer than this for what is under way. */
const STALLED_MS = 250;
/** A statement may wait five seconds for each of several locks. */
const HUNG_MS = 15_000;

/** Calls `startNext` once: when the work has ended, or when it has stalled. */
export async function orStalled<Result>(
  work: Promise<Result>,
  startNext: () => void,
  stalledMs = STALLED_MS,
): Promise<Result> {
  let isOver = false;
  function end(): void {
    if (isOver) return;
    isOver = true;
    startNext();
  }
  const timer = setTimeout(end, stalledMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    end();
  }
}

/** Closes the connection if it does not answer in time. What was asked then fails with the loss of its connection. */
export async function orHung<Result>(
  connection: Pick<PostgresConnection, 'end'>,
  asked: Promise<Result>,
): Promise<Result> {
  const close = () => void connection.end().catch(() => {});
  // A thread that was busy meanwhile first reads what has arrived.
  let timer = setTimeout(() => (timer = setTimeout(close, 1)), HUNG_MS);
  try {
    return await asked;
  } finally {
    clearTimeout(timer);
  }
}
