// Receivers that are programs of their own: each with a folder, and neither outlives the test file that started it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEachFile } from '../helpers/file-lifecycle.ts';

const running = new Set<ChildProcess>();
const folders: string[] = [];

export function newReceiverFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-receiver-'));
  folders.push(folder);
  return folder;
}

/** Its standard error is the test's own. */
export function spawnReceiver(command: string, words: readonly string[]) {
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

onEachFile({
  async end() {
    await Promise.all(
      [...running].map(async (child) => {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }),
    );
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  },
});
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
