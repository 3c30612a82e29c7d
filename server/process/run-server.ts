// Runs a server in this process: prints the ready line, handles the end, and exchanges messages with a desktop app.
import { onParentMessage, parentPort } from './parent-port.ts';
import type { Config } from '#server/platform/config.ts';
import { RestoreCompletedError } from '#server/wiring/compose-administration.ts';
import type { OnReload } from './reload-signal.ts';
import { serviceManager } from '#server/platform/service-manager.ts';
import { type RunningServer, startServer } from './start-server.ts';
import type { Stop } from './stop-signal.ts';

export interface ServeOptions {
  /** Starts a new installation even if the data directory has lost its database. */
  newInstallation?: boolean;
}

async function stopAndExit(server: RunningServer): Promise<void> {
  try {
    await server.stop();
    process.exit(0);
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n`);
    process.exit(1);
  }
}

/** Starts the server. If a stop is requested before it is ready, the exit follows here. */
async function startUnlessStopped(config: Config, stop: Stop, options: ServeOptions): Promise<RunningServer> {
  try {
    return await startServer(config, {
      logToStderr: true,
      giveUp: stop.signal,
      // The desktop app restarts a server that has ended.
      restart: parentPort() ? stop.ask : null,
      ...options,
    });
  } catch (error) {
    if (error === stop.signal.reason) process.exit(0);
    throw error;
  }
}

/**
 * Starts the server, prints the ready line, and stops it on request.
 * @param readConfig reads the settings again after a restore
 * @throws the errors of `startServer`, except after a stop request
 */
export async function runServer(
  config: Config,
  readConfig: () => Config,
  { stop, onReload }: { stop: Stop; onReload: OnReload },
  options: ServeOptions,
): Promise<void> {
  const server = await startUnlessStopped(config, stop, options).catch((error: unknown) => {
    if (!(error instanceof RestoreCompletedError)) throw error;
    // The app starts the server again, with the key that a restore may have brought.
    if (config.isKeyKeptByApp) process.exit(0);
    return startUnlessStopped(readConfig(), stop, options);
  });
  const manager = serviceManager(process.env, ({ message }) => {
    process.stderr.write(`warning: systemd cannot be notified: ${message.trim()}\n`);
  });
  stop.onForcedExit(server.reportForcedExit);
  stop.signal.addEventListener('abort', () => {
    manager.stopping();
    void stopAndExit(server);
  });
  onReload(server.reload);
  const ready = async () => ({ api: server.api, admin: await server.newSignInAddress() });
  const parent = parentPort();
  if (parent) {
    const announce = async () => parent.postMessage({ type: 'ready', ...(await ready()) });
    // The app's window needs a new code when its session has ended.
    onParentMessage('sign_in', () => void announce());
    onParentMessage('wake', server.wake);
    await announce();
    server.watchStatus((status) => parent.postMessage({ type: 'status', ...status }));
  }
  process.stdout.write(`${JSON.stringify({ event: 'ready', ...(await ready()), pid: process.pid })}\n`);
  manager.ready(`Serving ${server.api}`);
  manager.watch(server.readOnce);
}
