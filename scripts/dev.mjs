/** `npm run dev`: serves, rebuilds on every saved source, and restarts the server when it was not only the page. */
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { install } from './bootstrap.mjs';
import { buildIfStale, sourceFolders } from './build.mjs';
import { run } from './child.mjs';
import { builtCli, nodePath, root } from './paths.mjs';

/** An editor's save is several file events. */
const SETTLE_MS = 150;

/** @type {import('node:child_process').ChildProcess | undefined} */
let server;
/** Ends the wait for a change; set while the server is being restarted or lies broken. */
let onRebuilt = () => {};

/** Runs the server again after every rebuild; a server that fails to start waits for the change that mends it. */
async function serve() {
  for (;;) {
    const rebuilt = new Promise((resolve) => {
      onRebuilt = () => resolve(undefined);
    });
    let restarting = false;
    void rebuilt.then(() => {
      restarting = true;
      server?.kill('SIGTERM');
    });
    const { code } = await run(nodePath, [builtCli, 'serve', ...process.argv.slice(2)], {
      onSpawn: (child) => {
        server = child;
      },
    });
    if (restarting) continue;
    if (code === 0 || code > 128) process.exit(code);
    process.stderr.write(`The server ended with exit code ${code}; waiting for a change.\n`);
    await rebuilt;
  }
}

/** @param {boolean} serverChanged */
async function rebuild(serverChanged) {
  try {
    await buildIfStale();
  } catch (error) {
    process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
    return;
  }
  if (!serverChanged) {
    process.stderr.write('Page rebuilt; reload it.\n');
    return;
  }
  onRebuilt();
}

function watchSources() {
  /** @type {Set<string>} */
  const changed = new Set();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let queue = Promise.resolve();
  for (const folder of sourceFolders.filter((name) => existsSync(join(root, name)))) {
    watch(join(root, folder), { recursive: true }, () => {
      changed.add(folder);
      clearTimeout(timer);
      timer = setTimeout(() => {
        const serverChanged = [...changed].some((name) => name !== 'renderer');
        changed.clear();
        queue = queue.then(() => rebuild(serverChanged));
      }, SETTLE_MS);
    });
  }
}

await install();
await buildIfStale();
watchSources();
await serve();
