// Runs the built shell over the Electron stand-in, for tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Happening, ShellEvent } from './electron-stand-in.ts';

const project = resolve(import.meta.dirname, '../..');

type EventOf<Name extends ShellEvent['event']> = Extract<ShellEvent, { event: Name }>;

export interface Shell {
  dataDir: string;
  process: ChildProcess;
  /** Everything it wrote to stderr so far. */
  stderr(): string;
  /** Waits for the nth event of a kind, counted from 1. */
  event<Name extends ShellEvent['event']>(name: Name, nth?: number): Promise<EventOf<Name>>;
  count(name: ShellEvent['event']): number;
  /** Makes something happen; gives back what came of it. */
  happen(happening: Happening): Promise<unknown>;
  /** Resolves with the exit code. */
  exited: Promise<number | null>;
  /** For after a test: ends it whatever its state. */
  dispose(): Promise<void>;
}

interface ShellOptions {
  env?: Record<string, string>;
  args?: string[];
}

async function until<Value>(look: () => Value | undefined, what: string): Promise<Value> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((done) => {
      setTimeout(done, 20);
    });
  }
}

export function startShell({ env = {}, args = [] }: ShellOptions = {}): Shell {
  const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-shell-'));
  const hook = import.meta.resolve('./use-electron-stand-in.ts');
  const ports = ['--port', '0', '--admin-port=0'];
  const child = spawn(
    process.execPath,
    ['--import', hook, 'out/main/main.js', '--no-sandbox', '--data-dir', dataDir, ...ports, ...args],
    { cwd: project, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'pipe', 'ipc'] },
  );
  const events: ShellEvent[] = [];
  let stderr = '';
  child.on('message', (event) => events.push(event as ShellEvent));
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = new Promise<number | null>((done) => {
    child.once('exit', (code) => done(code));
  });
  const all = <Name extends ShellEvent['event']>(name: Name) =>
    events.filter((event): event is EventOf<Name> => event.event === name);
  let asked = 0;

  return {
    dataDir,
    process: child,
    stderr: () => stderr,
    event: (name, nth = 1) => until(() => all(name)[nth - 1], `${name} number ${nth}; stderr: ${stderr}`),
    count: (name) => all(name).length,
    async happen(happening) {
      asked += 1;
      const id = asked;
      child.send({ id, happening });
      return (await until(() => all('answer').find(({ to }) => to === id), happening.do)).value;
    },
    exited,
    async dispose() {
      child.kill('SIGKILL');
      await exited;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Whether a process with this id is there. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
