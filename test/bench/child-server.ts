// Starts a server in a separate process and ends it again, whatever happens in between.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serverEnvironment } from '../../scripts/paths.mjs';
import { treeCpuMs } from './process-tree.ts';
import '../helpers/exit-on-signal.ts';

export interface ChildServer {
  /** Of the line that it printed when it was ready. */
  api: string;
  /** The back office's address with its one-time code, where there is one. */
  admin: string;
  /** From the start of the process to that line. */
  readyAfterMs: number;
  /** Processor time of the process with its threads and child processes so far, in milliseconds. */
  cpuMs(): number;
  /** Resident memory in MB. */
  residentMb(): number;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 10_000;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

async function end(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const forced = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
  clearTimeout(forced);
}

/** @param file of the bench's server, in this folder @param logFolder where a file gets its stderr */
export const startBenchServer = (file: string, logFolder: string, ...args: readonly string[]) =>
  startChildServer(
    [join(import.meta.dirname, file), ...args],
    join(logFolder, file.replace(/\.ts$/u, '.log')),
  );

/** @param errorFile where its stderr goes, as an operator's would go to a file */
export async function startChildServer(args: readonly string[], errorFile: string): Promise<ChildServer> {
  const started = performance.now();
  const log = openSync(errorFile, 'a');
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', log],
    env: { ...process.env, ...serverEnvironment },
  });
  closeSync(log);
  running.add(child);
  child.once('exit', () => running.delete(child));
  const line = await Promise.race([
    new Promise<string>((resolve) =>
      createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).once('line', resolve),
    ),
    once(child, 'exit').then(() => null),
    new Promise<null>((resolve) => setTimeout(resolve, READY_WITHIN_MS, null).unref()),
  ]);
  if (line === null) {
    child.kill('SIGKILL');
    throw new Error(`${args.join(' ')} did not get ready; its messages are in ${errorFile}`);
  }
  const readyAfterMs = performance.now() - started;
  const { api, admin = '' } = JSON.parse(line) as { api: string; admin?: string };
  return {
    api,
    admin,
    readyAfterMs,
    cpuMs: () => treeCpuMs(child.pid as number),
    residentMb() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1]) / 1024;
    },
    stop: () => end(child),
  };
}
