/**
 * `node scripts/ci/check-packages.mjs FOLDER [--without-installers]`: checks that `npm run package` made all files for
 * this platform, with the fuses of electron-builder.yml, and that they run on the oldest supported systems.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../paths.mjs';

/** Ubuntu 22.04 has this version; Debian 12 has a later one. */
const NEWEST_GLIBC_2 = 35;

/** The packages of each platform, and the unpacked app that they contain. */
const PLATFORMS = /** @type {Record<string, { packages: string[], app: string }>} */ ({
  linux: { packages: ['*.AppImage', '*.deb', 'latest-linux*.yml'], app: 'linux*-unpacked/license-desk' },
  win32: { packages: ['*.exe', 'latest.yml'], app: 'win*-unpacked/License Desk.exe' },
  darwin: { packages: ['*.dmg', '*.zip', 'latest-mac.yml'], app: 'mac*/License Desk.app' },
});

/** As in electron-builder.yml; test/packaging compares both with the packed app. */
const FUSES = {
  RunAsNode: 'Disabled',
  EnableCookieEncryption: 'Enabled',
  EnableNodeOptionsEnvironmentVariable: 'Disabled',
  EnableNodeCliInspectArguments: 'Disabled',
  EnableEmbeddedAsarIntegrityValidation: 'Enabled',
  OnlyLoadAppFromAsar: 'Enabled',
  GrantFileProtocolExtraPrivileges: 'Disabled',
};

/** @param {string} app */
function wrongFuses(app) {
  const program = join(root, 'node_modules', '@electron', 'fuses', 'dist', 'bin.js');
  const output = execFileSync(process.execPath, [program, 'read', '--app', app], {
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '0' },
  });
  return Object.entries(FUSES)
    .filter(([name, state]) => !new RegExp(`\\b${name} is ${state}\\b`, 'u').test(output))
    .map(([name, state]) => `the fuse ${name} must be ${state}:\n${output}`);
}

/** @param {string} folder of the app */
function tooNewSymbols(folder) {
  // Native files are the only ones outside the archive.
  const outside = join(folder, 'resources', 'app.asar.unpacked');
  const files = globSync('**/*.node', { cwd: outside }).map((file) => join(outside, file));
  if (files.length === 0) return [`${outside} has no native file`];
  return files.flatMap((file) => {
    const symbols = execFileSync('objdump', ['-T', file], { encoding: 'utf8' });
    const minors = [...symbols.matchAll(/GLIBC_2\.(\d+)/gu)].map(([, minor]) => Number(minor));
    const needed = Math.max(...minors);
    return needed > NEWEST_GLIBC_2 ? [`${file} needs GLIBC 2.${needed}, newer than 2.${NEWEST_GLIBC_2}`] : [];
  });
}

/** @param {string} folder */
function findProblems(folder) {
  const platform = PLATFORMS[process.platform];
  if (!platform) return [`no packages are defined for ${process.platform}`];
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const installers = process.argv.includes('--without-installers') ? [] : platform.packages;
  const wanted = [...installers, `license-desk-server-${version}-*.tar.gz`, '*.cdx.json'];
  if (process.env['HAS_UPDATE_KEY'] === 'true') wanted.push('latest*.yml.sig');
  const problems = wanted
    .filter(
      (pattern) => !globSync(pattern, { cwd: folder }).some((file) => statSync(join(folder, file)).size > 0),
    )
    .map((pattern) => `${folder} has no ${pattern}`);
  const [app] = globSync(platform.app, { cwd: folder });
  if (!app) return [...problems, `${folder} has no ${platform.app}`];
  problems.push(...wrongFuses(join(folder, app)));
  if (process.platform === 'linux') problems.push(...tooNewSymbols(join(folder, app, '..')));
  return problems;
}

const [, , folder = 'dist'] = process.argv;
const problems = findProblems(folder);
for (const problem of problems) process.stderr.write(`error: ${problem}\n`);
for (const file of globSync('*.*', { cwd: folder })) process.stdout.write(`${file}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
