// `npm run dev` on a copy of the sources, which the test may change.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
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

  /** What `find` returns, once it finds something in the output. */
  async function printed<Found>(find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found) return found;
      if (child.exitCode !== null)
        throw new Error(`npm run dev ended with ${child.exitCode}: ${output.stderr}`);
      await new Promise<void>((resolve) => {
        notice = resolve;
        void ended.then(() => resolve());
      });
    }
  }

  /** The address that it prints at its start number `count`. */
  const addressIn = (count: number) =>
    [...output.stdout.matchAll(/^Open (\S+) in a browser\n/gmu)].map(([, url]) => url)[count - 1];

  return {
    ended,
    output,
    stop: () => child.kill('SIGINT'),
    address: (count: number) =>
      within(
        `npm run dev: start ${count}`,
        printed(() => addressIn(count)),
        { onTimeout: () => output.stderr },
      ),
    notice: (line: string) =>
      within(
        `npm run dev: "${line}"`,
        printed(() => output.stderr.includes(line)),
        { onTimeout: () => output.stderr },
      ),
  };
}

function change(project: string, file: string, from: string, to: string): void {
  const path = join(project, file);
  const source = readFileSync(path, 'utf8');
  expect(source, file).toContain(from);
  writeFileSync(path, source.replace(from, to));
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status, url).toBe(200);
  return response.text();
}

interface HotUpdate {
  type: string;
  updates?: { path: string; acceptedPath: string }[];
}

/** What Vite tells the open page. */
async function hotUpdates(origin: string) {
  const token = /const wsToken = "([^"]+)"/u.exec(await fetchText(`${origin}/@vite/client`))?.[1];
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/?token=${token}`, 'vite-hmr');
  const messages: HotUpdate[] = [];
  const waiting = new Set<() => void>();
  socket.addEventListener('message', ({ data }) => {
    messages.push(JSON.parse(String(data)) as HotUpdate);
    for (const look of waiting) look();
  });
  const message = (type: string, matches: (one: HotUpdate) => boolean = () => true) =>
    within(
      `Vite's message "${type}"`,
      new Promise<HotUpdate>((resolve) => {
        const look = () => {
          const found = messages.find((one) => one.type === type && matches(one));
          if (found) resolve(found);
        };
        waiting.add(look);
        look();
      }),
      { onTimeout: () => JSON.stringify(messages) },
    );
  await message('connected');
  return { messages, message, close: () => socket.close() };
}

/** Its refusal shows which version of the sources runs. */
const GUARD = 'server/features/admin-session/admin-guard.ts';

const project = copyOfProject();
const dataDir = temporaryDirectory();
let dev: ReturnType<typeof startDev>;
let address: URL;

// One session for all tests, in this order: its start takes as long as they do.
beforeAll(async () => {
  dev = startDev(project, dataDir);
  address = new URL(await dev.address(1));
});

test('serves the page with hot updates, and restarts the server after a change', async () => {
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
  change(project, `renderer/${component}`, '<template>', '<template><!-- changed -->');
  expect((await page.message('update')).updates?.map(({ path }) => path)).toContain(`/${component}`);

  const texts = ['src/i18n/i18n.ts', 'src/i18n/messages.ts', 'src/features/plans/plan-messages.ts'];
  for (const module of ['src/main.ts', ...texts]) await fetchText(`${address.origin}/${module}`);
  change(project, 'renderer/src/features/plans/plan-messages.ts', 'messagesOf(', 'messagesOf(/* changed */ ');
  await page.message('update', ({ updates = [] }) =>
    updates.some(({ path, acceptedPath }) => path === `/${texts[0]}` && acceptedPath === `/${texts[1]}`),
  );
  expect(page.messages.map(({ type }) => type)).not.toContain('full-reload');
  page.close();
  expect(readRuntimeFile(dataDir)?.pid).toBe(first?.pid);

  change(project, GUARD, 'sign in first', 'sign in again');
  await dev.notice('restarting the server');
  const meanwhile = await fetch(`${address.origin}/admin/api/plans/`);
  expect(meanwhile.status).toBe(401);
  expect(await meanwhile.text()).toContain('sign in again');
  const again = new URL(await dev.address(2));
  expect(again.origin).toBe(address.origin);
  const second = readRuntimeFile(dataDir);
  expect(second?.pid).not.toBe(first?.pid);
  expect(second?.admin).toBe(first?.admin);

  expect(dev.output.stderr).not.toContain('proxy error');
});

test('starts the server again once its broken source is corrected', async () => {
  change(project, GUARD, 'sign in again', "sign in 'again");
  await dev.notice('The server ended; waiting for a change.');
  change(project, GUARD, "sign in 'again", 'sign in now');
  const { origin } = new URL(await dev.address(3));
  expect(await (await fetch(`${origin}/admin/api/plans/`)).text()).toContain('sign in now');
});

test('reloads the page when its part of a contract changes', async () => {
  const { origin } = address;
  const page = await hotUpdates(origin);
  const served = (file: string) => fetchText(`${origin}/@fs${join(project, 'server', file)}`);
  const contract = 'features/plans/plan-contract.ts';
  expect(await served('contract.ts')).not.toContain('archivePlan');
  expect(await served(contract)).not.toContain('rented');

  const endpoint = `endpoint({
    method: 'POST',
    path: '/plans/archive/',
    auth: 'bearer',
    summary: 'Archive a plan',
    request: z.object({}),
    reply: z.object({}),
    errors: [],
  })`;
  const rows = 'export const planContract = {';
  change(project, `server/${contract}`, rows, `${rows}\n  archivePlan: ${endpoint},`);
  change(project, 'server/rules/floating-terms.ts', "'floating']", "'floating', 'rented']");
  await page.message('full-reload');
  expect(await served('contract.ts')).toContain('/plans/archive/');
  expect(await served(contract)).toContain('rented');
  await dev.address(4);

  // The page has no schemas.
  change(project, `server/${contract}`, 'text(200)', 'text(201)');
  await dev.address(5);
  change(project, 'server/contract.ts', "'/admin/api'", "'/admin/api2'");
  await page.message(
    'full-reload',
    (one) => one !== page.messages.find(({ type }) => type === 'full-reload'),
  );
  expect(page.messages.filter(({ type }) => type === 'full-reload')).toHaveLength(2);
  page.close();
});

test('stops its server', async () => {
  await dev.address(6);
  expect(existsSync(join(dataDir, 'runtime.json'))).toBe(true);
  dev.stop();
  expect(await within('the end of npm run dev', dev.ended)).toEqual([0, null]);
  expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
});
