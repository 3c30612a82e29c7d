// Runs a server as a process of its own: the ready line, signals, and the messages of a desktop app around it.
import type { Config } from './platform/config.ts';
import { systemClock } from './platform/clock.ts';
import { type RunningServer, startServer } from './start-server.ts';

/** The contract promises an exit within 5 seconds of a signal. */
const EXIT_WITHIN_MS = 4500;

/** What Electron's utility process offers; plain Node has none. */
interface ParentPort {
  postMessage(message: object): void;
  on(event: 'message', listener: (event: { data: unknown }) => void): void;
}

function parentPort(): ParentPort | undefined {
  return (process as { parentPort?: ParentPort }).parentPort;
}

function stopOnce(server: RunningServer): () => void {
  let stopping = false;
  return () => {
    if (stopping) return;
    stopping = true;
    // Nothing half-written can be left by this: what has not committed by then is rolled back.
    setTimeout(() => process.exit(0), EXIT_WITHIN_MS).unref();
    server.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`error: ${(error as Error).message}\n`);
        process.exit(1);
      },
    );
  };
}

/**
 * Starts, prints the ready line, and stops on SIGTERM, SIGINT or the desktop app's word.
 * @throws what `startServer` throws
 */
export async function runServer(config: Config): Promise<void> {
  const server = await startServer(config, systemClock, { logToStderr: true });
  const stop = stopOnce(server);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const ready = () => ({ api: server.api, admin: server.newSignInAddress() });
  const parent = parentPort();
  parent?.on('message', ({ data }) => {
    const type = (data as { type?: unknown } | null)?.type;
    if (type === 'stop') stop();
    // The app's window needs a new code when its session is over.
    if (type === 'sign_in') parent.postMessage({ type: 'ready', ...ready() });
  });
  parent?.postMessage({ type: 'ready', ...ready() });
  process.stdout.write(`${JSON.stringify({ event: 'ready', ...ready(), pid: process.pid })}\n`);
}
