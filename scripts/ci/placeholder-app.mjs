/**
 * The program of a placeholder for Electron, on a machine that cannot download it: runs an app over the stand-in, with
 * Chromium where the app's windows would be. `node scripts/ci/placeholder-app.mjs APP …`
 *
 * As in Electron, a second start hands its command line over to the first, and killing the app leaves no other process
 * between it and its server: this process becomes the stand-in.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromiumArguments, chromiumPath } from '../chromium.mjs';
import { nodePath, root } from '../paths.mjs';

const standIn = join(root, 'test', 'electron', 'stand-in');
const folder = process.env['PLACEHOLDER_FOLDER'] ?? join(tmpdir(), 'license-desk-placeholder');
const given = process.argv.slice(2);
const folderOfApp = resolve(given.find((one) => !one.startsWith('-')) ?? '.');
const args = given.filter((one) => one !== '--no-sandbox' && resolve(one) !== folderOfApp);
const { name, main } = JSON.parse(readFileSync(join(folderOfApp, 'package.json'), 'utf8'));
const app = join(folderOfApp, main);
/** The app for the conformance facts is started only once. */
const socket = name === 'license-desk' ? join(folder, 'first.sock') : null;

/**
 * @param {string} path
 * @returns {Promise<boolean>} whether an app runs, which now has this start's command line
 */
function handOver(path) {
  return new Promise((done) => {
    const connection = connect(path);
    let isConnected = false;
    connection.once('error', () => {});
    connection.once('connect', () => {
      isConnected = true;
      connection.end(JSON.stringify([app, ...args]));
    });
    connection.once('close', () => done(isConnected));
    connection.resume();
  });
}

/** @param {string} endpoint */
async function isListening(endpoint) {
  return fetch(`${endpoint}/json/version`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** @returns {Promise<NodeJS.ProcessEnv>} what the stand-in has to know of the browser that its windows are in */
async function startBrowser() {
  const port = args.find((one) => one.startsWith('--remote-debugging-port='))?.split('=')[1];
  if (!port) return {};
  if (!chromiumPath) throw new Error('Chromium is not installed');
  const profile = mkdtempSync(join(folder, 'chromium-'));
  const browser = spawn(
    chromiumPath,
    [
      ...chromiumArguments,
      '--headless',
      `--remote-debugging-port=${port}`,
      `--user-data-dir=${profile}`,
      'about:blank',
    ],
    { stdio: 'ignore', detached: true },
  );
  browser.unref();
  const endpoint = `http://127.0.0.1:${port}`;
  while (!(await isListening(endpoint))) {
    if (browser.exitCode !== null) throw new Error(`Chromium ended with ${browser.exitCode}`);
    await sleep(100);
  }
  return { STAND_IN_BROWSER: endpoint, PLACEHOLDER_BROWSER: String(browser.pid) };
}

async function becomeStandIn() {
  const env = {
    ...process.env,
    PATH: `${join(standIn, 'commands')}${delimiter}${process.env['PATH']}`,
    STAND_IN_APP_DATA: folder,
    ...(socket && { PLACEHOLDER_SOCKET: socket }),
    ...(await startBrowser()),
  };
  process.execve?.(
    nodePath,
    [
      nodePath,
      '--unhandled-rejections=warn-with-error-code',
      '--import',
      join(root, 'scripts', 'ci', 'placeholder-preload.mjs'),
      join(standIn, 'run.ts'),
      app,
      ...args,
    ],
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
  );
}

mkdirSync(folder, { recursive: true, mode: 0o700 });
const isHandedOver = socket !== null && (await handOver(socket));
if (!isHandedOver && !args.includes('--quit')) await becomeStandIn();
