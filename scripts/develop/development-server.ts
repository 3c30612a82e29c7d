// The server as a child process that keeps its ports across restarts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nodePath, root } from '../paths.mjs';

export interface Ready {
  /** `http://127.0.0.1:8787/license/api/svc/` */
  api: string;
  /** `http://127.0.0.1:8788/?code=…` */
  admin: string;
  /** Time from the restart request until the server accepted calls. */
  startedInMs: number;
}

interface DevelopmentServer {
  /**
   * Starts the server, also after each restart, and calls `onReady` each time. Never resolves.
   * @throws if the first start fails
   */
  run(onReady: (ready: Ready) => Promise<void>): Promise<never>;
  restart(): void;
  /** Resolves once the server runs, in a restart once it runs again. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export function createDevelopmentServer(
  words: readonly string[],
  log: (line: string) => void,
): DevelopmentServer {
  let child: ChildProcess | undefined;
  let askedAt = Date.now();
  let hasStarted = false;
  let isOver = false;
  /** From the first start: the page must find the server at the same address. */
  let ports: readonly string[] = [];
  let onChange = () => {};
  let running = Promise.withResolvers<void>();

  async function end(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  /** Those who wait for the server now also wait for its next start. */
  function awaitNextStart(): void {
    const next = Promise.withResolvers<void>();
    running.resolve(next.promise);
    running = next;
  }

  async function runOnce(onReady: (ready: Ready) => Promise<void>): Promise<void> {
    const program = ['--disable-sigusr1', join(root, 'cli', 'main.ts'), 'serve', ...words, ...ports];
    const started = spawn(nodePath, program, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    child = started;
    const ended = once(started, 'exit') as Promise<[number | null]>;
    createInterface({ input: started.stdout }).once('line', (line) => {
      const ready = JSON.parse(line) as Omit<Ready, 'startedInMs'>;
      hasStarted = true;
      ports = ['--port', new URL(ready.api).port, '--admin-port', new URL(ready.admin).port];
      // A restart was asked for meanwhile.
      if (started.killed) return;
      running.resolve();
      void onReady({ ...ready, startedInMs: Date.now() - askedAt });
    });
    const [code] = await ended;
    awaitNextStart();
    if (!hasStarted) throw new Error(`the server ended with exit code ${code}; its messages are above`);
  }

  return {
    async run(onReady) {
      for (;;) {
        let hasChanged = false;
        const changed = new Promise<void>((resolve) => {
          onChange = () => {
            hasChanged = true;
            resolve();
          };
        });
        await runOnce(onReady);
        if (!hasChanged && !isOver) log('The server ended; waiting for a change.');
        await changed;
      }
    },
    restart() {
      askedAt = Date.now();
      awaitNextStart();
      onChange();
      void end();
    },
    ready: () => running.promise,
    async stop() {
      isOver = true;
      await end();
    },
  };
}
