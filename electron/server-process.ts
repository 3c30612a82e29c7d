// Keeps the server running beside the shell: starts it, restarts it when it dies, stops it on quit.
import { setTimeout as sleep } from 'node:timers/promises';
import { utilityProcess, type UtilityProcess } from 'electron';
import { createTail } from './output-tail.ts';
import { recentFailures, restartDelay } from './restart-policy.ts';

const STOP_PATIENCE_MS = 5000;

/** What the server posts once it accepts connections, and whenever it is asked to `sign_in`. */
interface ReadyMessage {
  type: 'ready';
  /** The page, with a one-time code to sign in. */
  admin: string;
  api: string;
}

interface ServerProcessOptions {
  /** The built server. */
  modulePath: string;
  args: string[];
  /** After every start, and after `requestSignIn`. */
  onReady(admin: string): void;
  /** When it fails again and again. @param reason what the server said last */
  onGiveUp(reason: string): void;
}

export interface ServerProcess {
  /** Starts it, also after it was given up. */
  start(): void;
  /** Makes it announce itself again, with a fresh one-time code. */
  requestSignIn(): void;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

function isReady(message: unknown): message is ReadyMessage {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}

function killAtOnce(child: UtilityProcess): void {
  try {
    if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
  } catch {
    // It ended by itself just now.
  }
}

export function setUpServerProcess({
  modulePath,
  args,
  onReady,
  onGiveUp,
}: ServerProcessOptions): ServerProcess {
  let child: UtilityProcess | null = null;
  let ended: Promise<void> = Promise.resolve();
  let restart: NodeJS.Timeout | undefined;
  let failures: number[] = [];
  let stopping = false;

  function run(): void {
    const server = utilityProcess.fork(modulePath, args, {
      serviceName: 'License Desk server',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const tail = createTail(server.stderr);
    child = server;
    server.on('message', (message: unknown) => {
      if (isReady(message)) onReady(message.admin);
    });
    ended = new Promise((resolve) => {
      server.once('exit', (code) => {
        child = null;
        resolve();
        if (!stopping) recover(tail() || `it ended with exit code ${code}`);
      });
    });
  }

  function recover(reason: string): void {
    const now = Date.now();
    failures = [...recentFailures(failures, now), now];
    const delay = restartDelay(failures.length);
    if (delay === null) onGiveUp(reason);
    else restart = setTimeout(run, delay);
  }

  return {
    start() {
      failures = [];
      run();
    },
    requestSignIn: () => child?.postMessage({ type: 'sign_in' }),
    async stop() {
      stopping = true;
      clearTimeout(restart);
      if (!child) return;
      child.postMessage({ type: 'stop' });
      await Promise.race([ended, sleep(STOP_PATIENCE_MS, undefined, { ref: false })]);
      // The exit event has cleared it, unless the server hangs.
      const hanging = child as UtilityProcess | null;
      if (hanging) killAtOnce(hanging);
      await ended;
    },
  };
}
