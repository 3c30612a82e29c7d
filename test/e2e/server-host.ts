// A process that runs one server after another. In separate processes, each server would load and compile the same code
// again, which is most of the CPU time of a start.
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type * as RunServer from '#server/process/run-server.ts';
import { loadConfig } from '#server/platform/config.ts';
import { SETTINGS } from '#server/platform/settings.ts';

/** What `serve` loads: exactly one file, as a build removes those of earlier builds. */
const [built = ''] = globSync(join(resolve(import.meta.dirname, '../..'), 'out/main/run-server-*.js'));
const { runServer } = (await import(built)) as typeof RunServer;

const options = Object.fromEntries(
  Object.values(SETTINGS).map(({ flag }) => [flag, { type: 'string' as const }]),
);

let stopping = new AbortController();

interface Start {
  args: string[];
  env: Record<string, string | undefined>;
}

function start({ args, env }: Start): void {
  const { values } = parseArgs({ args, options });
  const flags = values as Record<string, string | undefined>;
  const readConfig = () => loadConfig({ flags, env });
  stopping = new AbortController();
  const stop = { signal: stopping.signal, ask: () => {}, onForcedExit: () => {} };
  // A failed start ends this process, as it ends `serve`.
  void runServer(readConfig(), readConfig, { stop, onReload: () => {} }, {});
}

const endProcess = process.exit;
// Once a server has stopped, it ends its process.
process.exit = ((code: number) => {
  process.send?.({ code });
}) as typeof process.exit;
process.on('disconnect', () => endProcess(0));
process.on('message', (message: Start | 'stop') => {
  if (message === 'stop') stopping.abort();
  else start(message);
});
