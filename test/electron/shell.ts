// Runs the built shell over the Electron stand-in, for tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { ShellAnswer } from '../../electron/shell-bridge.ts';
import type { Happening, ShellEvent } from './stand-in/happenings.ts';

const project = resolve(import.meta.dirname, '../..');
/** What the shell starts besides Electron: here, a desktop that shows tray icons. */
const commands = join(import.meta.dirname, 'stand-in/commands');

type EventOf<Name extends ShellEvent['event']> = Extract<ShellEvent, { event: Name }>;

export interface Shell {
  dataDir: string;
  /** Where the system keeps the data of apps. */
  appData: string;
  process: ChildProcess;
  /** Everything it wrote to stderr so far. */
  stderr(): string;
  /** Waits for the nth event of a kind, counted from 1. */
  event<Name extends ShellEvent['event']>(name: Name, nth?: number): Promise<EventOf<Name>>;
  /** Waits for the first event of a kind that is as wanted. */
  eventThat<Name extends ShellEvent['event']>(
    name: Name,
    isWanted: (event: EventOf<Name>) => boolean,
  ): Promise<EventOf<Name>>;
  count(name: ShellEvent['event']): number;
  /** These kinds of events in the order in which each came first. */
  order(...names: ShellEvent['event'][]): ShellEvent['event'][];
  /** Makes something happen; gives back what came of it. Rejects if it is the last thing that the shell does. */
  happen(happening: Happening): Promise<unknown>;
  /** As the page of the shell's own window does: the nth window that was made. */
  answerShell(window: number, answer: ShellAnswer): Promise<unknown>;
  /** Resolves with the exit code. */
  exited: Promise<number | null>;
  /** For after a test: ends it whatever its state. */
  dispose(): Promise<void>;
}

export interface ShellOptions {
  env?: Record<string, string>;
  args?: string[];
  /** One that is kept. By default, one on which the server runs in the app. */
  dataDir?: string;
  /** False: started as an installed app is, without data directory and ports on its command line. */
  hasFlags?: boolean;
}

/** Longer than any test: a machine with other work on it is slow, and the test's own time is up first. */
const WAIT_MS = 120_000;

/** Looks again at each thing that the shell reports, and when it ends. */
function until<Value>(
  child: ChildProcess,
  look: () => Value | undefined,
  what: () => string,
): Promise<Value> {
  return new Promise((fulfil, reject) => {
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      child.off('message', again);
      child.off('exit', again);
      finish();
    };
    const again = () => {
      try {
        const found = look();
        if (found !== undefined) settle(() => fulfil(found));
      } catch (error) {
        settle(() => reject(error as Error));
      }
    };
    const timer = setTimeout(() => settle(() => reject(new Error(`waited in vain for ${what()}`))), WAIT_MS);
    child.on('message', again);
    child.on('exit', again);
    again();
  });
}

/** An installed app asks on a new one where its server runs. */
function usedDirectory(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-shell-'));
  mkdirSync(join(dataDir, 'window'), { mode: 0o700 });
  writeFileSync(join(dataDir, 'window', 'server-home.json'), '{"home":"app"}');
  return dataDir;
}

export function startShell({
  env = {},
  args = [],
  dataDir: given,
  hasFlags = true,
}: ShellOptions = {}): Shell {
  const dataDir = given ?? usedDirectory();
  const appData = env['STAND_IN_APP_DATA'] ?? mkdtempSync(join(tmpdir(), 'license-desk-app-data-'));
  const ports = ['--port', '0', '--admin-port=0'];
  const child = spawn(
    process.execPath,
    [
      // Electron only warns of a promise that is rejected with nobody to hear it.
      '--unhandled-rejections=warn-with-error-code',
      'test/electron/stand-in/run.ts',
      'out/main/main.js',
      '--no-sandbox',
      ...(hasFlags ? ['--data-dir', dataDir, ...ports] : []),
      ...args,
    ],
    {
      cwd: project,
      env: {
        ...process.env,
        PATH: `${commands}${delimiter}${process.env['PATH']}`,
        STAND_IN_APP_DATA: appData,
        ...env,
      },
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    },
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

  async function happen(happening: Happening): Promise<unknown> {
    asked += 1;
    const id = asked;
    child.send({ id, happening });
    const answered = until(
      child,
      () => {
        const answer = all('answer').find(({ to }) => to === id);
        if (!answer && (child.exitCode !== null || child.signalCode !== null)) {
          throw new Error(`the shell ended at ${happening.do}`);
        }
        return answer;
      },
      () => happening.do,
    );
    return (await answered).value;
  }

  return {
    dataDir,
    appData,
    process: child,
    stderr: () => stderr,
    event: (name, nth = 1) =>
      until(
        child,
        () => all(name)[nth - 1],
        () => `${name} number ${nth}; stderr: ${stderr}`,
      ),
    eventThat: (name, isWanted) =>
      until(
        child,
        () => all(name).find(isWanted),
        () => `${name}; stderr: ${stderr}`,
      ),
    count: (name) => all(name).length,
    order: (...names) =>
      [...new Set(events.map(({ event }) => event))].filter((name) => names.includes(name)),
    happen,
    async answerShell(window, answer) {
      const { url } = await until(
        child,
        () => all('load').find(({ id }) => id === window),
        () => `the page of window ${window}`,
      );
      // It may be the last thing that the shell does.
      return happen({
        do: 'call-bridge',
        window,
        method: 'shellAnswer',
        arguments: [answer],
        senderUrl: url,
      }).catch(() => {});
    },
    exited,
    async dispose() {
      child.kill('SIGKILL');
      await exited;
      if (env['STAND_IN_APP_DATA'] === undefined) rmSync(appData, { recursive: true, force: true });
      if (given === undefined) rmSync(dataDir, { recursive: true, force: true });
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
