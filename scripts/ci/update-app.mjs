/**
 * `node scripts/ci/update-app.mjs APP FOLDER [--proof FILE]`: updates an installed app to the version in a folder, as
 * a user would who downloaded its installer while the app is running. FILE lists the passed checks.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { expect, isAlive, until, useInstalledApp } from './installed-app.mjs';

const { values, positionals } = parseArgs({
  options: { proof: { type: 'string' } },
  allowPositionals: true,
});
const [given, next] = positionals;
if (!given || !next) {
  process.stderr.write('usage: node scripts/ci/update-app.mjs APP FOLDER [--proof FILE]\n');
  process.exit(2);
}
const app = resolve(given);
const { check, healthyServer, run, runtime, server, start } = useInstalledApp(app);

/** @param {string} pattern */
const find = (pattern) => globSync(pattern, { cwd: next }).map((file) => join(next, file))[0];

/** @param {string} program @param {readonly string[]} args */
function command(program, args) {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) throw error ?? new Error(`${program} failed with exit code ${status}`);
}

const quit = () => start(['--quit']).exited;

/** @returns {Promise<void>} after which the files of the next version are in place; the app may still run */
async function install() {
  const installer = find('*.exe');
  const debianPackage = find('*.deb');
  const unpacked = find('linux*-unpacked');
  if (installer) command(installer, ['/S', '/currentuser']);
  else if (debianPackage) command('sudo', ['dpkg', '-i', debianPackage]);
  else if (process.platform === 'darwin') {
    // The Finder refuses to replace an app that is running.
    await quit();
    const bundle = resolve(dirname(app), '..', '..');
    command('ditto', [find('mac*/*.app') ?? '', bundle]);
  } else if (unpacked) cpSync(unpacked, dirname(app), { recursive: true, force: true });
  else throw new Error(`${next} has no package for ${process.platform}`);
}

/** @param {string} api */
async function factsOf(api) {
  const { version } = await (await fetch(new URL('health/', api))).json();
  const key = await (await fetch(new URL('public-key/', api))).text();
  return { version, key };
}

await run(async () => {
  const first = start([...server, '--hidden']);
  const old = await healthyServer();
  const before = await factsOf(old.api);

  await check('the next version installs while the app is running', install);
  await check('the app ends with exit code 0, and its server with it', async () => {
    if (runtime()) expect(await quit(), 0, 'the exit code of --quit');
    expect(await first.exited, 0, 'the exit code of the app');
    await until('the end of the server', () => (isAlive(old.pid) ? undefined : true));
  });
  await check('the next version serves the same data', async () => {
    const second = start([...server, '--hidden']);
    const { api } = await healthyServer(old.pid);
    const after = await factsOf(api);
    if (after.version === before.version) throw new Error(`the version is still ${after.version}`);
    expect(after.key, before.key, 'the public key');
    expect(await quit(), 0, 'the exit code of --quit');
    expect(await second.exited, 0, 'the exit code of the next version');
  });
}, values.proof);
