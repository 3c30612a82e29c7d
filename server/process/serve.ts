// The way into a server process: what is loaded on the way is kept compiled, which halves the time of the next start.
import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { join } from 'node:path';
import { prepareDataDirectory } from '#server/installation/data-directory.ts';
import type { Config } from '#server/platform/config.ts';
import type { ServeOptions } from './run-server.ts';
import { stopSignal } from './stop-signal.ts';

/**
 * Serves until it is told to stop, which may be before it is ready. The cache is kept in the data directory, where nobody else may write.
 * @throws what `startServer` throws
 */
export async function serve(config: Config, options: ServeOptions = {}): Promise<void> {
  const stop = stopSignal();
  prepareDataDirectory(config.dataDir);
  enableCompileCache(join(config.dataDir, 'cache'));
  const { runServer } = await import('./run-server.ts');
  await runServer(config, stop, options);
  keepSmall();
}

/**
 * Left to itself V8 takes what a large machine has: under load the heap of 30 MB grows to 170 MB and is never given
 * back. Workers inherit both settings.
 */
function keepSmall(): void {
  // As large as it has grown during the start is enough for what requests leave behind; it would grow to 130 MB.
  setFlagsFromString('--semi-space-growth-factor=1');
  // The old one is collected when it has grown by this much, not by several times its size.
  setFlagsFromString('--heap-growing-percent=30');
}
