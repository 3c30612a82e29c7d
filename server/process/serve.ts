// Entry point of a server process. Caches compiled code, which halves the time of the next start.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { prepareDataDirectory } from '#server/installation/data-directory.ts';
import { refuseExposedFiles } from '#server/installation/exposed-files.ts';
import type { Config } from '#server/platform/config.ts';
import { keepHeapSmall } from './heap-size.ts';
import { reloadSignal } from './reload-signal.ts';
import type { ServeOptions } from './run-server.ts';
import { stopSignal } from './stop-signal.ts';

/**
 * Serves until a stop is requested, possibly before it is ready. The cache is in the data directory, which is writable
 * only by this user.
 * @param readConfig called again after a restore, which may have changed the settings
 * @throws the errors of `startServer`
 */
export async function serve(readConfig: () => Config, options: ServeOptions = {}): Promise<void> {
  const config = readConfig();
  const stop = stopSignal();
  const onReload = reloadSignal(stop.ask);
  prepareDataDirectory(config.dataDir, { mayBeNew: options.newInstallation ?? false });
  // Others could have put code into the cache.
  refuseExposedFiles(config);
  enableCompileCache(join(config.dataDir, 'cache'));
  const { runServer } = await import('./run-server.ts');
  await runServer(config, readConfig, { stop, onReload }, options);
  keepHeapSmall();
}
