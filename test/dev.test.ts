// `npm run dev` on a copy of the sources, which the test may change.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { root } from '../scripts/paths.mjs';
import { temporaryDirectory } from './helpers/server-process.ts';
import { within } from './helpers/within.ts';

const COPIED = ['cli', 'electron', 'renderer', 'scripts', 'server', 'verifier'];
const COPIED_FILES = ['electron.vite.config.ts', 'package.json', 'package-lock.json', 'tsconfig.json'];

function copyOfProject(): string {
  const copy = temporaryDirectory('project');
  for (const name of [...COPIED, ...COPIED_FILES])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function startDev(project: string, dataDir: string) {
  const words = ['--data-dir', dataDir, '--port', '0', '--admin-port', '0'];
  const child = spawn(process.execPath, [join(project, 'scripts/dev.mjs'), ...words], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const output = { stdout: '', stderr: '' };
  let notice = () => {};
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
      notice();
    });
  }

  /** The addresses that it has printed, once there are as many as `count`. */
  async function addresses(count: number): Promise<string[]> {
    for (;;) {
      const found = [...output.stdout.matchAll(/^Open (\S+) in a browser\n/gmu)].map(([, url]) => url ?? '');
      if (found.length >= count) return found;
      if (child.exitCode !== null)
        throw new Error(`npm run dev ended with ${child.exitCode}: ${output.stderr}`);
      await new Promise<void>((resolve) => {
        notice = resolve;
        void ended.then(() => resolve());
      });
    }
  }

  return {
    ended,
    stop: () => child.kill('SIGINT'),
    address: async (count: number) =>
      (await within(`npm run dev: start ${count}`, addresses(count), { onTimeout: () => output.stderr })).at(
        -1,
      ) ?? '',
  };
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status, url).toBe(200);
  return response.text();
}

/** What Vite tells the open page. */
async function hotUpdates(origin: string) {
  const token = /const wsToken = "([^"]+)"/u.exec(await fetchText(`${origin}/@vite/client`))?.[1];
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/?token=${token}`, 'vite-hmr');
  const messages: { type: string; updates?: { path: string }[] }[] = [];
  const waiting = new Set<() => void>();
  socket.addEventListener('message', ({ data }) => {
    messages.push(JSON.parse(String(data)) as (typeof messages)[number]);
    for (const look of waiting) look();
  });
  const message = (type: string) =>
    within(
      `Vite's message "${type}"`,
      new Promise<(typeof messages)[number]>((resolve) => {
        const look = () => {
          const found = messages.find((one) => one.type === type);
          if (found) resolve(found);
        };
        waiting.add(look);
        look();
      }),
    );
  await message('connected');
  return { message, close: () => socket.close() };
}

test('serves the page with hot updates, restarts the server after a change, and stops', async () => {
  const project = copyOfProject();
  const dataDir = temporaryDirectory();
  const dev = startDev(project, dataDir);
  const address = new URL(await dev.address(1));
  const first = readRuntimeFile(dataDir);

  expect(await fetchText(address.origin)).toContain('src="/@vite/client"');
  const signIn = await fetch(`${address.origin}/admin/api/session/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: address.searchParams.get('code') }),
  });
  expect(signIn.ok, await signIn.text()).toBe(true);

  const component = 'src/App.vue';
  expect(await fetchText(`${address.origin}/${component}`)).toContain('import.meta.hot');
  const page = await hotUpdates(address.origin);
  const file = join(project, 'renderer', component);
  writeFileSync(file, readFileSync(file, 'utf8').replace('<template>', '<template><!-- changed -->'));
  expect((await page.message('update')).updates?.map(({ path }) => path)).toContain(`/${component}`);
  page.close();
  expect(readRuntimeFile(dataDir)?.pid).toBe(first?.pid);

  appendFileSync(join(project, 'server/installation/version.ts'), '\n// changed\n');
  const again = new URL(await dev.address(2));
  expect(again.origin).toBe(address.origin);
  const second = readRuntimeFile(dataDir);
  expect(second?.pid).not.toBe(first?.pid);
  expect(second?.admin).toBe(first?.admin);

  dev.stop();
  expect(await within('the end of npm run dev', dev.ended)).toEqual([0, null]);
  expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
});
