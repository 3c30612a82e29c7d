import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;
/** Far longer than any recovery takes. */
const GIVE_UP_MS = 180_000;

/** Looks again until it is true. @param what for the message @throws if it never is */
export async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  while (!(await look())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${GIVE_UP_MS / 1000} s`);
    await sleep(POLL_MS);
  }
}
