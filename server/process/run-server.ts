// Runs a server as a process of its own: the ready line, the end, and the messages of a desktop app around it.
import { onParentMessage, parentPort } from './parent-port.ts';
import type { Config } from '#server/platform/config.ts';
import { systemClock } from '#server/platform/clock.ts';
import { onReloadSignal } from './reload-signal.ts';
import { serviceManager } from '#server/platform/service-manager.ts';
import { type RunningServer, startServer } from './start-server.ts';
import type { Stop } from './stop-signal.ts';

export interface ServeOptions {
  /** Starts over where the data directory has had a database that is lost. */
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

/** The exit follows here, too, if it is told to stop before it is ready. */
async function startUnlessTold(config: Config, stop: Stop, options: ServeOptions): Promise<RunningServer> {
  try {
    return await startServer(config, systemClock, {
      logToStderr: true,
      giveUp: stop.signal,
      // The desktop app starts again what has ended.
      restart: parentPort() ? stop.ask : null,
      ...options,
    });
  } catch (error) {
    if (error === stop.signal.reason) process.exit(0);
    throw error;
  }
}

/**
 * Starts, prints the ready line, and stops when it is told to.
 * @throws what `startServer` throws, but for having been told to stop
 */
export async function runServer(config: Config, stop: Stop, options: ServeOptions): Promise<void> {
  const server = await startUnlessTold(config, stop, options);
  const manager = serviceManager(process.env, ({ message }) => {
    process.stderr.write(`warning: systemd cannot be notified: ${message.trim()}\n`);
  });
  stop.onForcedExit(server.reportForcedExit);
  stop.signal.addEventListener('abort', () => {
    manager.stopping();
    void stopAndExit(server);
  });
  onReloadSignal(server.reload, stop.ask);
  const ready = () => ({ api: server.api, admin: server.newSignInAddress() });
  const parent = parentPort();
  if (parent) {
    const announce = () => parent.postMessage({ type: 'ready', ...ready() });
    // The app's window needs a new code when its session is over.
    onParentMessage('sign_in', announce);
    onParentMessage('wake', server.wake);
    announce();
    server.watchStatus((status) => parent.postMessage({ type: 'status', ...status }));
  }
  process.stdout.write(`${JSON.stringify({ event: 'ready', ...ready(), pid: process.pid })}\n`);
  manager.ready(`Serving ${server.api}`);
  manager.watch(server.readOnce);
}
