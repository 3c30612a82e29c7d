/** `npm run dev`: serves, rebuilds on every saved source, and restarts the server when it was not only the page. */
import { existsSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { install } from './bootstrap.mjs';
import { buildIfStale, sourceFolders } from './build.mjs';
import { run } from './child.mjs';
import { cliArguments, nodePath, root } from './paths.mjs';

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
    const { code } = await run(nodePath, [...cliArguments, 'serve', ...process.argv.slice(2)], {
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

/**
 * Watches the folder and each one in it. Not with one recursive watcher: on Linux that one does not notice changes to
 * a file any more once an editor has replaced it, as most do at every save.
 *
 * @param {string} folder
 * @param {() => void} onChange
 */
function watchFolder(folder, onChange) {
  const inside = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  return [folder, ...inside].map((path) => watch(path, onChange).on('error', onChange));
}

function watchSources() {
  /** @type {Set<string>} */
  const changed = new Set();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let queue = Promise.resolve();
  /** @type {import('node:fs').FSWatcher[]} */
  let watchers = [];

  /** @param {string} name */
  function note(name) {
    changed.add(name);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const serverChanged = [...changed].some((one) => one !== 'renderer');
      changed.clear();
      // Folders come and go. Whatever happens in between is seen by the build, which reads everything after that.
      watchAll();
      queue = queue.then(() => rebuild(serverChanged));
    }, SETTLE_MS);
  }

  function watchAll() {
    for (const watcher of watchers) watcher.close();
    watchers = sourceFolders
      .filter((name) => existsSync(join(root, name)))
      .flatMap((name) => {
        try {
          return watchFolder(join(root, name), () => note(name));
        } catch {
          // A folder went away just now.
          note(name);
          return [];
        }
      });
  }

  watchAll();
}

await install();
await buildIfStale();
watchSources();
await serve();
