// What the tables of faults ask a server, and how they report it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '../helpers/server-process.ts';
import type { Lane } from './lane.ts';

interface Readiness {
  status: number;
  checks: Record<string, string>;
}

/** @returns null from a server without `/health/ready/` */
async function readiness(server: ServerProcess): Promise<Readiness | null> {
  const { status, body } = await server.get('/health/ready/');
  return status === 404 ? null : { status, checks: body.checks as Record<string, string> };
}

const POLL_MS = 50;

/** Collects what is not as expected in one row of a table. */
export interface Checks {
  failures: string[];
  expect(isRight: boolean, what: string): void;
  /** @returns how many ms it took until the look succeeded; a failure if it did not within that time */
  within(ms: number, what: string, look: () => Promise<boolean>): Promise<number>;
  /** Readiness becomes what it should be, with that check failing, or ready. */
  becomesReady(server: ServerProcess): Promise<number>;
  becomesNotReady(server: ServerProcess, check: string): Promise<number>;
  /** The process answers, whatever else is wrong. */
  isAlive(server: ServerProcess): Promise<void>;
}

const NOTICED_MS = 20_000;

function createChecks(): Checks {
  const failures: string[] = [];
  const checks: Checks = {
    failures,
    expect(isRight, what) {
      if (!isRight) failures.push(what);
    },
    async within(ms, what, look) {
      const started = performance.now();
      for (;;) {
        if (await look()) return Math.round(performance.now() - started);
        if (performance.now() - started > ms) break;
        await sleep(POLL_MS);
      }
      failures.push(`${what}: not within ${ms} ms`);
      return ms;
    },
    becomesReady: (server) =>
      checks.within(NOTICED_MS, 'ready', async () => {
        const now = await readiness(server);
        return now === null || now.status === 200;
      }),
    becomesNotReady: (server, check) =>
      checks.within(NOTICED_MS, `not ready because of ${check}`, async () => {
        const now = await readiness(server);
        return now === null || (now.status === 503 && now.checks[check] === 'failing');
      }),
    async isAlive(server) {
      const { status } = await server.get('/health/live/');
      checks.expect(status === 200 || status === 404, `/health/live/ answered ${status}`);
    },
  };
  return checks;
}

/** Runs one row of a table. @param work returns its figures */
export async function checkRow(
  lane: Lane,
  check: string,
  checked: string,
  work: (checks: Checks) => Promise<string>,
): Promise<void> {
  lane.note(check);
  const checks = createChecks();
  const figures = await work(checks).catch((error: unknown) => {
    checks.failures.push((error as Error).stack ?? String(error));
    return '';
  });
  lane.report({ check, rounds: lane.count, checked, failures: checks.failures, figures });
}
