// Runs the server from its sources and restarts it on changes, and serves the page through Vite, which updates it in
// place.
import { createServer as createVite } from 'vite';
import { pageForDevelopment } from '../electron.vite.config.ts';
import { createDevelopmentServer, type Ready } from './develop/development-server.ts';
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

/** @returns the page's origin */
async function servePage(adminOrigin: string): Promise<string> {
  const vite = await createVite({
    ...pageForDevelopment,
    configFile: false,
    clearScreen: false,
    server: {
      host: HOST,
      proxy: { '/admin': { target: adminOrigin } },
      // The page imports types and rules from the server.
      fs: { allow: [root] },
    },
  });
  stopPage = () => vite.close();
  await vite.listen();
  return new URL(vite.resolvedUrls?.local[0] ?? `http://${HOST}`).origin;
}

let pageOrigin: string | undefined;

async function announce({ admin, startedInMs }: Ready): Promise<void> {
  const address = new URL(admin);
  const isFirst = pageOrigin === undefined;
  pageOrigin ??= await servePage(address.origin);
  if (isFirst) {
    stopWatching = watchFolders(['cli', 'server', 'verifier'], (file) => {
      log(`${file} changed; restarting the server …`);
      server.restart();
    });
  } else log(`The server restarted in ${startedInMs} ms.`);
  process.stdout.write(`Open ${pageOrigin}/${address.search} in a browser\n`);
}

try {
  await server.run(announce);
} catch (error) {
  log((error as Error).message);
  await stop(1);
}
