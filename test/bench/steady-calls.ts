// Calls at a fixed rate, as many clients together make them, and what their latencies come to.
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from './keep-alive-client.ts';

const CALLS_PER_SECOND = 500;
const TICK_MS = 10;

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** So many calls a second, whether earlier ones are answered or not. */
export async function callSteadily(
  url: string,
  bodies: readonly object[],
  isOver: () => boolean,
): Promise<number[]> {
  const client = createClient(64);
  const replies: Promise<number>[] = [];
  const started = performance.now();
  while (!isOver()) {
    const due = Math.floor(((performance.now() - started) * CALLS_PER_SECOND) / 1000);
    while (replies.length < due) {
      const body = bodies[replies.length % bodies.length] ?? {};
      replies.push(client.post(url, body).then(({ sentAt, endedAt }) => endedAt - sentAt));
    }
    await sleep(TICK_MS);
  }
  const latencies = await Promise.all(replies);
  client.close();
  return latencies;
}
