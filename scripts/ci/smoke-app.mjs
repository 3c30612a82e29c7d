/**
 * `node scripts/ci/smoke-app.mjs APP [--proof FILE]`: uses an installed app like a user, and checks its protections.
 * FILE lists
 * the passed checks; a screenshot is written next to it.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';

const WAIT_MS = 60_000;

/**
 * @template Value
 * @param {string} what
 * @param {() => Value | undefined | Promise<Value | undefined>} look
 * @returns {Promise<Value>}
 */
async function until(what, look) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`waited ${WAIT_MS} ms for ${what}`);
    await sleep(100);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const { values, positionals } = parseArgs({
  options: { proof: { type: 'string' } },
  allowPositionals: true,
});
const [given] = positionals;
if (!given) {
  process.stderr.write('usage: node scripts/ci/smoke-app.mjs APP [--proof FILE]\n');
  process.exit(2);
}
const app = resolve(given);
const folder = mkdtempSync(join(tmpdir(), 'license-desk-smoke-'));
const dataDir = join(folder, 'data');
const runtimeFile = join(dataDir, 'runtime.json');
const port = await freePort();
// A keychain would prompt the user, and no user is present.
const masterKey = randomBytes(32).toString('base64');
/** @type {string[]} */
const passed = [];
/** @type {import('node:child_process').ChildProcess[]} */
const started = [];

/**
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @param {string} [program]
 */
function start(args, env = {}, program = app) {
  const child = spawn(program, args, {
    env: { ...process.env, LICENSE_DESK_MASTER_KEY: masterKey, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  started.push(child);
  const exited = once(child, 'exit').then(([code, signal]) => code ?? String(signal));
  return { child, exited };
}

/** @param {string} what @param {() => Promise<void>} work */
async function check(what, work) {
  try {
    await work();
  } catch (error) {
    throw new Error(`${what}: ${/** @type {Error} */ (error).message}`, { cause: error });
  }
  passed.push(what);
  process.stdout.write(`passed: ${what}\n`);
}

/** @returns {{ api: string, admin: string, pid: number } | undefined} */
function runtime() {
  if (!existsSync(runtimeFile)) return undefined;
  try {
    return JSON.parse(readFileSync(runtimeFile, 'utf8'));
  } catch {
    // It is being written.
    return undefined;
  }
}

/** @param {number} [notPid] of a server that is over */
const healthyServer = (notPid) =>
  until('a healthy server', async () => {
    const found = runtime();
    if (!found || found.pid === notPid) return undefined;
    const response = await fetch(new URL('health/', found.api)).catch(() => null);
    return response?.ok ? found : undefined;
  });

/** @param {unknown} actual @param {unknown} wanted @param {string} what */
function expect(actual, wanted, what) {
  if (actual !== wanted) throw new Error(`${what} must be ${wanted} (got ${actual})`);
}

const server = [`--data-dir=${dataDir}`, '--port=0', '--admin-port=0'];

async function useApp() {
  const { exited } = start([...server, '--hidden', `--remote-debugging-port=${port}`]);
  let pid = 0;
  await check('starts hidden; the database answers and the jobs run', async () => {
    ({ pid } = await healthyServer());
  });
  await check('restarts a killed server', async () => {
    process.kill(pid, 'SIGKILL');
    ({ pid } = await healthyServer(pid));
  });
  await check('a second start opens the back office', async () => {
    const second = start(server);
    expect(await second.exited, 0, 'the exit code of the second start');
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
    const page = await until('the page of the back office', () =>
      browser
        .contexts()
        .flatMap((context) => context.pages())
        .find((one) => one.url().startsWith('http://127.0.0.1:')),
    );
    await page.getByRole('heading', { level: 1 }).first().waitFor({ timeout: WAIT_MS });
    if (values.proof) await page.screenshot({ path: values.proof.replace(/\.json$/u, '.png') });
    await browser.close();
  });
  await check('quits with exit code 0, and its server with it', async () => {
    const asking = start(['--quit']);
    expect(await asking.exited, 0, 'the exit code of --quit');
    expect(await exited, 0, 'the exit code of the app');
    expect(isAlive(pid), false, 'the server');
    expect(existsSync(runtimeFile), false, 'runtime.json');
  });
}

async function killApp() {
  const { child, exited } = start([...server, '--hidden']);
  await check('ends its server when it is killed', async () => {
    const { pid } = await healthyServer();
    child.kill('SIGKILL');
    await exited;
    await until('the end of the server', () => (isAlive(pid) ? undefined : true));
  });
}

async function misuseApp() {
  await check('does not run a script that is passed to it', async () => {
    const file = join(folder, 'ran');
    const script = join(folder, 'script.cjs');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(file)}, '')`;
    writeFileSync(script, code);
    await start(['-e', code, '--quit'], { ELECTRON_RUN_AS_NODE: '1' }).exited;
    await start(['--quit'], { NODE_OPTIONS: `--require=${script}` }).exited;
    expect(existsSync(file), false, 'the file of the script');
  });
  // Electron checks the archive only on macOS and Windows.
  if (process.platform === 'linux') return;
  await check('does not start with a changed archive', async () => {
    const top = process.platform === 'darwin' ? resolve(dirname(app), '..', '..') : dirname(app);
    const copy = join(folder, basename(top));
    cpSync(top, copy, { recursive: true, verbatimSymlinks: true });
    const archive = join(
      copy,
      process.platform === 'darwin' ? 'Contents/Resources' : 'resources',
      'app.asar',
    );
    const bytes = readFileSync(archive);
    const at = bytes.indexOf('"hash":"') + 8;
    bytes[at] = bytes[at] === 0x30 ? 0x31 : 0x30;
    writeFileSync(archive, bytes);
    const { exited } = start([...server, '--hidden'], {}, join(copy, app.slice(top.length)));
    const code = await Promise.race([exited, until('the end', () => (runtime() ? 0 : undefined))]);
    if (code === 0) throw new Error('it started');
  });
}

let problem = null;
try {
  await useApp();
  await killApp();
  await misuseApp();
} catch (error) {
  problem = /** @type {Error} */ (error).message;
  process.stderr.write(`error: ${problem}\n`);
  process.exitCode = 1;
} finally {
  const running = started.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  for (const child of running) child.kill('SIGKILL');
  const { platform, arch, version } = process;
  const proof = { app, platform, arch, node: version, passed, problem };
  if (values.proof) writeFileSync(values.proof, `${JSON.stringify(proof, null, 2)}\n`);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
