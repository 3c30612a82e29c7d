// The way into a server process: what is loaded on the way is kept compiled, which halves the time of the next start.
import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { join } from 'node:path';
import { prepareDataDirectory } from './data-directory.ts';
import type { Config } from './platform/config.ts';

/**
 * Serves until a signal comes. The cache is kept in the data directory, where nobody else may write.
 * @throws what `startServer` throws
 */
export async function serve(config: Config): Promise<void> {
  prepareDataDirectory(config.dataDir);
  enableCompileCache(join(config.dataDir, 'cache'));
  const { runServer } = await import('./run-server.ts');
  await runServer(config);
  // As large as it has grown by now is enough for what requests leave behind; under load V8 would let it grow to
  // 130 MB, for a few percent of speed.
  setFlagsFromString('--semi-space-growth-factor=1');
}
