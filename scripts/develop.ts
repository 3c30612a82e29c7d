// Runs the server from its sources and restarts it on changes, and serves the page through Vite, which updates it in
// place.
import vue from '@vitejs/plugin-vue';
import { createServer as createVite, type Plugin, type ViteDevServer } from 'vite';
import { page } from '../electron.vite.config.ts';
import { createDevelopmentServer, type Ready } from './develop/development-server.ts';
import { createLiveContracts } from './develop/live-contracts.ts';
import { watchFolders } from './develop/watch-folders.ts';
import { root } from './paths.mjs';

const HOST = '127.0.0.1';

const log = (line: string) => void process.stderr.write(`${line}\n`);

const server = createDevelopmentServer(process.argv.slice(2), log);

let stopPage = async () => {};
let stopWatching = () => {};

/** Set at the first stop: Ctrl+C in a terminal reaches all processes of the group. */
let isStopping = false;
async function stop(exitCode: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  stopWatching();
  await Promise.all([stopPage(), server.stop()]);
  process.exit(exitCode);
}
process.on('SIGINT', () => void stop(0));
process.on('SIGTERM', () => void stop(0));

async function servePage(adminOrigin: string, contracts: Plugin): Promise<ViteDevServer> {
  const vite = await createVite({
    ...page,
    plugins: [contracts, vue()],
    configFile: false,
    clearScreen: false,
    server: {
      host: HOST,
      // Calls wait while the server restarts.
      proxy: { '/admin': { target: adminOrigin, bypass: () => server.ready() } },
      // The page imports types and rules from the server.
      fs: { allow: [root] },
    },
  });
  stopPage = () => vite.close();
  return vite.listen();
}

let pageOrigin: string | undefined;
let updateContracts = () => {};

async function announce({ admin, startedInMs }: Ready): Promise<void> {
  const address = new URL(admin);
  if (pageOrigin === undefined) {
    const contracts = createLiveContracts(log);
    const vite = await servePage(address.origin, contracts.plugin);
    pageOrigin = new URL(vite.resolvedUrls?.local[0] ?? `http://${HOST}`).origin;
    updateContracts = () => contracts.update(vite);
    stopWatching = watchFolders(['cli', 'server', 'verifier'], (file) => {
      log(`${file} changed; restarting the server …`);
      server.restart();
    });
  } else {
    log(`The server restarted in ${startedInMs} ms.`);
    // Not earlier: it would delay the server, for which calls of the page wait.
    updateContracts();
  }
  process.stdout.write(`Open ${pageOrigin}/${address.search} in a browser\n`);
}

try {
  await server.run(announce);
} catch (error) {
  log((error as Error).message);
  await stop(1);
}
