/** A utility process: its messages, its output, and its end. */
import { join } from 'node:path';
import { utilityProcess } from 'electron';
import { once } from './attempt.mjs';

export async function observeUtilityProcess() {
  const child = utilityProcess.fork(join(import.meta.dirname, 'child.mjs'), [], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env },
  });
  const { stderr } = child;
  const beforeSpawn = typeof child.pid;
  /** @type {unknown[]} */
  const messages = [];
  child.on('message', (message) => {
    messages.push(message);
    child.postMessage({ leave: true });
  });
  stderr?.on('data', () => {});
  // The child listens later, and has it then.
  child.postMessage({ queued: new Map([['key', 1]]) });
  await once(child, 'spawn');
  const atSpawn = typeof child.pid;
  const exit = await new Promise((resolve) => {
    child.once('exit', (code) => resolve({ code, hasListeners: (stderr?.listenerCount('data') ?? 0) > 0 }));
  });
  await new Promise(setImmediate);
  return {
    pid: { beforeSpawn, atSpawn, afterExit: typeof child.pid },
    messages,
    exit,
    stderr: { afterExit: child.stderr, listenersAfterExit: stderr?.listenerCount('data') },
    postAfterwards: child.postMessage('late') ?? null,
    killAfterwards: child.kill(),
  };
}
