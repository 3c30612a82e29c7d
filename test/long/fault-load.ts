// Writers that run while something breaks, on a server whose every confirmed write is checked afterwards.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '../helpers/server-process.ts';
import { createRandom } from './random.ts';
import { createLedger, databaseFaults, type Ledger, ledgerFaults, NO_MARKS } from './write-ledger.ts';
import { type Load, newLoad, runWriter } from './write-load.ts';

const WRITERS = 4;
const POLL_MS = 20;
const TIMEOUT_MS = 60_000;
let loads = 0;

export interface RunningLoad {
  load: Load;
  /** Waits until this many more writes have ended so. */
  until(ending: keyof Load['count'], more: number): Promise<void>;
  /** Ends the writers. @throws if a reply was neither a success nor the expected refusal */
  stop(): Promise<void>;
}

export interface Loaded {
  ledger: Ledger;
  start(server: ServerProcess, refusal?: number): RunningLoad;
  /** @param restored another data directory that has to hold the same @returns what is wrong there */
  faults(restored?: string): Promise<string[]>;
}

export async function createFaultLoad(server: ServerProcess, seed: number): Promise<Loaded> {
  const ledger = createLedger();
  const { dataDir } = server;
  const { api_token: bearer } = await server.admin.createApiToken({ name: 'Load', role: 'admin' });
  return {
    ledger,
    start(target, refusal) {
      loads += 1;
      const name = `load-${loads}`;
      const state = { isOver: false };
      const load = newLoad({
        server: target,
        bearer,
        ledger,
        isOver: () => state.isOver,
        ...(refusal === undefined ? {} : { refusal }),
      });
      const writers = Promise.all(
        Array.from({ length: WRITERS }, (_, number) =>
          runWriter(load, createRandom(seed, loads * WRITERS + number), `${name}-${number}`),
        ),
      );
      // Thrown again by `stop`.
      writers.catch(() => {});
      return {
        load,
        async until(ending, more) {
          const goal = load.count[ending] + more;
          const deadline = performance.now() + TIMEOUT_MS;
          while (load.count[ending] < goal) {
            // A writer that met an unexpected reply says so here.
            await Promise.race([writers, sleep(POLL_MS)]);
            if (performance.now() < deadline) continue;
            throw new Error(
              `not ${more} writes ${ending} in ${TIMEOUT_MS} ms: ${JSON.stringify(load.count)}`,
            );
          }
        },
        async stop() {
          state.isOver = true;
          await writers;
        },
      };
    },
    async faults(restored = dataDir) {
      return [...(await databaseFaults(restored)), ...(await ledgerFaults(restored, ledger, NO_MARKS))];
    },
  };
}
