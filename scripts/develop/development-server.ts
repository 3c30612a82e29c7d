// The server as a child process that keeps its ports across restarts. While it runs, the next one loads the sources.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { nodePath, root } from '../paths.mjs';

export interface Ready {
  /** `http://127.0.0.1:8787/license/api/svc/` */
  api: string;
  /** `http://127.0.0.1:8788/?code=…` */
  admin: string;
  /** Time from the restart request until the server accepted calls. */
  startedInMs: number;
}

type Standby = ChildProcessByStdio<Writable, Readable, null>;

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

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

const PORT_OPTION = /^--(?:admin-)?port$/u;

/** A restart has the ports of the first start, and an option can be given only once. */
const withoutPorts = (words: readonly string[]): string[] =>
  words.filter(
    (word, at) => !PORT_OPTION.test(word.split('=')[0] ?? '') && !PORT_OPTION.test(words[at - 1] ?? ''),
  );

export function createDevelopmentServer(
  words: readonly string[],
  log: (line: string) => void,
): DevelopmentServer {
  let child: ChildProcess | undefined;
  let standby: Standby | undefined;
  let askedAt = Date.now();
  let hasStarted = false;
  let isOver = false;
  /** From the first start: the page must find the server at the same address. */
  let ports: readonly string[] = [];
  let onChange = () => {};
  let running = Promise.withResolvers<void>();

  async function end(): Promise<void> {
    if (!child || hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  function prepare(): Standby {
    const program = [
      '--disable-sigusr1',
      join(root, 'scripts/develop/standby.ts'),
      'serve',
      ...(ports.length > 0 ? withoutPorts(words) : words),
      ...ports,
    ];
    const prepared = spawn(nodePath, program, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
    // Written to when it has just ended.
    prepared.stdin.on('error', () => {});
    return prepared;
  }

  /** Those who wait for the server now also wait for its next start. */
  function awaitNextStart(): void {
    const next = Promise.withResolvers<void>();
    running.resolve(next.promise);
    running = next;
  }

  async function runOnce(onReady: (ready: Ready) => Promise<void>): Promise<void> {
    const started = standby && !hasEnded(standby) ? standby : prepare();
    standby = undefined;
    child = started;
    started.stdin.write('\n');
    const ended = once(started, 'exit') as Promise<[number | null]>;
    createInterface({ input: started.stdout }).once('line', (line) => {
      const ready = JSON.parse(line) as Omit<Ready, 'startedInMs'>;
      hasStarted = true;
      ports = ['--port', new URL(ready.api).port, '--admin-port', new URL(ready.admin).port];
      // A restart was asked for meanwhile.
      if (started.killed) return;
      running.resolve();
      standby = prepare();
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
      standby?.kill();
      await end();
    },
  };
}
