// Programs that are measured beside the service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { callers, type Calls } from './measure-writes.ts';
import { treeCpuMs } from './process-tree.ts';
import type { Contender } from './rounds.ts';

const READY_ATTEMPTS = 200;
const READY_EVERY_MS = 50;

export interface Peer extends Contender {
  /** Ends the program and deletes its folder. */
  stop(): Promise<void>;
}

interface Needs {
  command: string;
  args: readonly string[];
  /** Has nothing but the program's files. */
  folder: string;
  /** Rejects until the program is ready. */
  callOnce(): Promise<unknown>;
  calls: Calls;
  /** Of all rounds together. */
  seconds: number;
}

/** @returns once it is ready */
export async function startPeer(needs: Needs): Promise<Peer> {
  const { command, args, folder, callOnce, calls, seconds } = needs;
  const child = spawn(command, args, { stdio: 'ignore' });
  const exited = once(child, 'exit');
  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      await callOnce();
      break;
    } catch (error) {
      if (attempt < READY_ATTEMPTS) {
        await sleep(READY_EVERY_MS);
        continue;
      }
      await stop();
      throw new Error(`${command} did not get ready`, { cause: error });
    }
  }
  return { ...callers({ server: { cpuMs: () => treeCpuMs(child.pid as number) }, seconds }, calls), stop };
}
