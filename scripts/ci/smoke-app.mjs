/**
 * `node scripts/ci/smoke-app.mjs APP [--proof FILE]`: uses an installed app like a user, and checks its protections.
 * FILE lists the passed checks; a screenshot is written next to it.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { expect, freePort, isAlive, until, useInstalledApp, WAIT_MS } from './installed-app.mjs';

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
const port = await freePort();
const { check, folder, healthyServer, run, runtime, runtimeFile, server, start } = useInstalledApp(app);

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
  await check('opens a license file', async () => {
    const file = join(folder, 'opened file.lic');
    writeFileSync(file, 'not a license file');
    // Linux desktops pass a URL.
    const second = start([...server, process.platform === 'linux' ? pathToFileURL(file).href : file]);
    expect(await second.exited, 0, 'the exit code of the start with a file');
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
    const page = await until('the page that checks the file', () =>
      browser
        .contexts()
        .flatMap((context) => context.pages())
        .find((one) => one.url().includes('/air-gap')),
    );
    const field = page.getByRole('textbox').first();
    await until('the text of the file', async () =>
      (await field.inputValue()) === 'not a license file' ? true : undefined,
    );
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

await run(async () => {
  await useApp();
  await killApp();
  await misuseApp();
}, values.proof);
