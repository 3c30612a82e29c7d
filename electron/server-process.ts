// Keeps the server running beside the shell: starts it, restarts it when it dies, stops it on quit.
import { setTimeout as sleep } from 'node:timers/promises';
import { utilityProcess, type UtilityProcess } from 'electron';
import type { ServerStatus } from '#server/features/overview/server-status.ts';
import type { MessageFromServer, MessageToServer } from '#server/process/parent-port.ts';
import type { Failure } from './failure-screen.ts';
import { createTail } from './output-tail.ts';
import { restartDelay, withFailure } from './restart-policy.ts';

const STOP_TIMEOUT_MS = 5000;

export interface ServerProcessOptions {
  /** The built server. */
  modulePath: string;
  /** Read before each start. */
  args(): string[];
  /** Prepares the server's environment before each start. @returns null if that failed, which was already reported */
  prepare(): Promise<Record<string, string> | null>;
  /** A start has begun. @param log what the server has written so far */
  onStarting(log: () => string): void;
  /** After every start, and after `requestSignIn`. */
  onReady(addresses: { admin: string; api: string }): void;
  onStatus(status: ServerStatus): void;
  /** The server has ended, with or without an error. */
  onDown(): void;
  /** The server refuses to start, or fails repeatedly. It is not started again. */
  onGiveUp(failure: Failure): void;
}

export interface ServerProcess {
  /** Starts the server, also after a stop or after it was given up. */
  start(): Promise<void>;
  /** Ends the server. It then starts again with the current settings. */
  restart(): void;
  /** Makes the server announce itself again, with a new one-time code. */
  requestSignIn(): void;
  /** Runs the jobs that fell due while the computer slept. */
  wake(): void;
  /** Resolves when the server has ended. */
  stop(): Promise<void>;
}

const isMessage = (message: unknown): message is MessageFromServer =>
  typeof message === 'object' && message !== null && 'type' in message;

function kill(child: UtilityProcess): void {
  try {
    if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

export function setUpServerProcess(options: ServerProcessOptions): ServerProcess {
  let child: UtilityProcess | null = null;
  let ended: Promise<void> = Promise.resolve();
  let restartTimer: NodeJS.Timeout | undefined;
  let failures: number[] = [];
  let stopping = false;

  const send = (type: MessageToServer['type']) => child?.postMessage({ type } satisfies MessageToServer);

  async function run(): Promise<void> {
    const env = await options.prepare();
    if (!env || stopping) return;
    const server = utilityProcess.fork(options.modulePath, options.args(), {
      serviceName: 'License Desk server',
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...env },
    });
    const tail = createTail(server.stderr);
    let refusal: Omit<Failure, 'log'> | null = null;
    let failure = '';
    child = server;
    options.onStarting(tail.log);
    server.on('message', (message: unknown) => {
      if (!isMessage(message)) return;
      if (message.type === 'ready') return options.onReady(message);
      if (message.type === 'status') return options.onStatus(message);
      if (message.type === 'failed') failure = message.message;
      else refusal = { cause: message.cause, reason: message.message, taken: message.taken ?? null };
      // It ends once this has arrived: what is still in the port at the exit is lost.
      send('heard');
    });
    // V8 ran out of memory. Without a listener Electron shows its dialog for JavaScript errors; the exit follows.
    server.on('error', (type, location) => {
      failure = `${type} in ${location}`;
    });
    ended = new Promise((resolve) => {
      server.once('exit', (code) => {
        const drained = tail.drain();
        child = null;
        resolve();
        if (stopping) return;
        options.onDown();
        void drained.then(() => {
          if (stopping) return;
          const log = tail.log();
          const reason = failure || tail.lastWords() || `exit code ${code}`;
          if (refusal) options.onGiveUp({ ...refusal, log });
          else recover(code, reason, log);
        });
      });
    });
  }

  function recover(code: number, reason: string, log: string): void {
    // A server that ended without an error was restarted by an administrator.
    if (code !== 0) failures = withFailure(failures, Date.now());
    const delay = restartDelay(failures.length);
    if (delay === null) options.onGiveUp({ cause: 'crashes', reason, log, taken: null });
    else restartTimer = setTimeout(() => void run(), delay);
  }

  async function end(): Promise<void> {
    if (!child) return;
    send('stop');
    await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    // The exit event has cleared it, unless the server hangs.
    const hanging = child as UtilityProcess | null;
    if (hanging) kill(hanging);
    await ended;
  }

  return {
    start() {
      failures = [];
      stopping = false;
      return run();
    },
    restart: () => void end(),
    requestSignIn: () => send('sign_in'),
    wake: () => send('wake'),
    async stop() {
      stopping = true;
      clearTimeout(restartTimer);
      await end();
    },
  };
}
