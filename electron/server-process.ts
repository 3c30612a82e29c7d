// Keeps the server running beside the shell: starts it, restarts it when it dies, stops it on quit.
import { setTimeout as sleep } from 'node:timers/promises';
import { utilityProcess, type UtilityProcess } from 'electron';
import type { MessageFromServer, MessageToServer, ServerStatus } from '../server/parent-port.ts';
import type { Failure } from './failure-screen.ts';
import { createTail } from './output-tail.ts';
import { recentFailures, restartDelay } from './restart-policy.ts';

const STOP_PATIENCE_MS = 5000;

interface ServerProcessOptions {
  /** The built server. */
  modulePath: string;
  args: string[];
  /** Before each start: what the server needs in its environment. @returns null where it cannot be had, which has been told */
  prepare(): Promise<Record<string, string> | null>;
  /** After every start, and after `requestSignIn`. */
  onReady(addresses: { admin: string; api: string }): void;
  onStatus(status: ServerStatus): void;
  /** It has ended, by itself or not. */
  onDown(): void;
  /** It refuses to start, or fails again and again; it is not started any more. */
  onGiveUp(failure: Failure): void;
}

export interface ServerProcess {
  /** Starts it, also after it was given up. */
  start(): Promise<void>;
  /** Makes it announce itself again, with a fresh one-time code. */
  requestSignIn(): void;
  /** Lets it do what fell due while the computer slept. */
  wake(): void;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

const isMessage = (message: unknown): message is MessageFromServer =>
  typeof message === 'object' && message !== null && 'type' in message;

function killAtOnce(child: UtilityProcess): void {
  try {
    if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
  } catch {
    // It ended by itself just now.
  }
}

export function setUpServerProcess(options: ServerProcessOptions): ServerProcess {
  let child: UtilityProcess | null = null;
  let ended: Promise<void> = Promise.resolve();
  let restart: NodeJS.Timeout | undefined;
  let failures: number[] = [];
  let stopping = false;

  const send = (type: MessageToServer['type']) => child?.postMessage({ type } satisfies MessageToServer);

  async function run(): Promise<void> {
    const env = await options.prepare();
    if (!env || stopping) return;
    const server = utilityProcess.fork(options.modulePath, options.args, {
      serviceName: 'License Desk server',
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...env },
    });
    const tail = createTail(server.stderr);
    let refusal: Omit<Failure, 'log'> | null = null;
    child = server;
    server.on('message', (message: unknown) => {
      if (!isMessage(message)) return;
      if (message.type === 'ready') options.onReady(message);
      else if (message.type === 'status') options.onStatus(message);
      else refusal = { cause: message.cause, reason: message.message };
    });
    ended = new Promise((resolve) => {
      server.once('exit', (code) => {
        child = null;
        resolve();
        if (stopping) return;
        options.onDown();
        const log = tail.log();
        if (refusal) options.onGiveUp({ ...refusal, log });
        else recover(code, tail.lastWords() || `it ended with exit code ${code}`, log);
      });
    });
  }

  function recover(code: number, reason: string, log: string): void {
    const now = Date.now();
    // One that ended well was asked to by an administrator, for other settings.
    if (code !== 0) failures = [...recentFailures(failures, now), now];
    const delay = restartDelay(failures.length);
    if (delay === null) options.onGiveUp({ cause: 'crashes', reason, log });
    else restart = setTimeout(() => void run(), delay);
  }

  return {
    start() {
      failures = [];
      return run();
    },
    requestSignIn: () => send('sign_in'),
    wake: () => send('wake'),
    async stop() {
      stopping = true;
      clearTimeout(restart);
      if (!child) return;
      send('stop');
      await Promise.race([ended, sleep(STOP_PATIENCE_MS, undefined, { ref: false })]);
      // The exit event has cleared it, unless the server hangs.
      const hanging = child as UtilityProcess | null;
      if (hanging) killAtOnce(hanging);
      await ended;
    },
  };
}
