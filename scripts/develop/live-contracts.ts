// The contracts for the page (../contract-manifest.mjs), read again after each change of the server.
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { normalizePath, type Plugin, type ViteDevServer } from 'vite';
import { contractPath } from '../contract-manifest.mjs';
import { root } from '../paths.mjs';

/** By their paths in the project. */
type Contracts = Map<string, string>;

interface LiveContracts {
  plugin: Plugin;
  /** Reads the contracts again, and reloads the page if what it has of them has changed. */
  update(vite: ViteDevServer): void;
}

/** In a new thread, because a thread loads each module only once. */
async function readContracts(): Promise<Contracts> {
  const thread = new Worker(new URL('read-contracts.ts', import.meta.url));
  const [contracts] = (await once(thread, 'message')) as [Contracts];
  return contracts;
}

export function createLiveContracts(log: (line: string) => void): LiveContracts {
  /** @param before for the page while a contract cannot be loaded */
  const read = (before: Contracts) =>
    readContracts().catch((error: unknown) => {
      log(`The page does not have the latest contracts: ${(error as Error).message}`);
      return before;
    });

  let current = read(new Map());

  async function contractOf(id: string): Promise<string | undefined> {
    const path = contractPath(id);
    return path === undefined ? undefined : (await current).get(path);
  }

  function reload({ environments: { client } }: ViteDevServer, paths: readonly string[]): void {
    const modules = paths.flatMap((path) => [
      ...(client.moduleGraph.getModulesByFile(normalizePath(join(root, path))) ?? []),
    ]);
    if (modules.length === 0) return;
    log('The contracts changed; reloading the page …');
    for (const module of modules) client.moduleGraph.invalidateModule(module);
    client.hot.send({ type: 'full-reload' });
  }

  return {
    plugin: {
      name: 'live-contracts',
      enforce: 'pre',
      load: async (id) => (await contractOf(id)) ?? null,
      // Only `update` reloads the page: most changes of a contract are in its schemas, which the page does not have.
      hotUpdate: async ({ file }) => ((await contractOf(file)) === undefined ? undefined : []),
    },
    update(vite) {
      current = current.then(async (before) => {
        const after = await read(before);
        const paths = [...new Set([...before.keys(), ...after.keys()])];
        reload(
          vite,
          paths.filter((path) => before.get(path) !== after.get(path)),
        );
        return after;
      });
    },
  };
}
