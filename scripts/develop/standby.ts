// A server process that has loaded the sources before it is needed, so that a restart loads only what has changed since.
// It starts when it receives a line.
import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from '../paths.mjs';

const main = join(root, 'cli', 'main.ts');
/** What `main` loads to serve. */
const LOADED = ['cli/program.ts', 'server/process/serve.ts', 'server/process/run-server.ts'];

interface Loaded {
  /** When the file was last changed before it was loaded; 0 if it does not exist. */
  changedAt: number;
  /** URLs of the modules that import it. */
  importers: Set<string>;
}

/** By URL. */
const modules = new Map<string, Loaded>();
/** Changed modules, and all that import them, directly or not. */
const stale = new Set<string>();

const changedAt = (url: string): number =>
  statSync(fileURLToPath(url), { throwIfNoEntry: false })?.mtimeMs ?? 0;

function markStale(url: string): void {
  if (stale.has(url)) return;
  stale.add(url);
  for (const importer of modules.get(url)?.importers ?? []) markStale(importer);
}

// Node loads a module once for each URL: a stale one gets another.
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const { url } = resolved;
    if (!url.startsWith('file:') || url.includes('/node_modules/')) return resolved;
    if (stale.has(url)) return { ...resolved, url: `${url}?changed` };
    const loaded = modules.get(url) ?? { changedAt: changedAt(url), importers: new Set() };
    modules.set(url, loaded);
    if (context.parentURL !== undefined) loaded.importers.add(context.parentURL);
    return resolved;
  },
});

const input = createInterface({ input: process.stdin });
const started = new Promise<void>((resolve) => {
  input.once('line', () => resolve());
  // `npm run dev` has ended.
  input.once('close', () => process.exit());
});

for (const file of LOADED) {
  // The start reports what is wrong, unless it has been corrected by then.
  await import(pathToFileURL(join(root, file)).href).catch(() => {});
}
await started;
input.removeAllListeners('close').close();
// Must not keep the server from ending. If it were closed, the next file to be opened would become standard input.
process.stdin.unref();

for (const [url, loaded] of modules) if (changedAt(url) !== loaded.changedAt) markStale(url);
process.argv[1] = main;
await import(pathToFileURL(main).href);
