// The launcher of the server's package, beside a Node that says what it was given.
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../helpers/server-process.ts';

const sources = resolve(import.meta.dirname, '../../packaging/server');

const onWindows = process.platform === 'win32';

/** @param node a shell script in place of Node @returns the path of a link to the launcher, and the folder of both */
function newLauncher(node: string): { link: string; folder: string } {
  const folder = temporaryDirectory('app with spaces');
  const launcher = join(folder, 'license-desk');
  copyFileSync(join(sources, 'license-desk'), launcher);
  writeFileSync(join(folder, 'node'), `#!/bin/sh\n${node}\n`);
  for (const file of [launcher, join(folder, 'node')]) chmodSync(file, 0o755);
  const link = join(temporaryDirectory(), 'license-desk');
  symlinkSync(launcher, link);
  return { link, folder };
}

it.skipIf(onWindows)('runs Node without its debugger, through a link too', async () => {
  const { link, folder } = newLauncher(String.raw`printf '%s\n' "$@"`);
  const { stdout } = await promisify(execFile)(link, ['serve', '--base-url', 'https://a b']);
  expect(stdout.trimEnd().split('\n')).toEqual([
    '--disable-sigusr1',
    join(folder, 'out/main/cli.js'),
    'serve',
    '--base-url',
    'https://a b',
  ]);
});

it.skipIf(onWindows)('gives all threads one heap, unless told otherwise', async () => {
  const { link } = newLauncher('echo "$MALLOC_ARENA_MAX"');
  const heaps = async (env: Record<string, string>) =>
    (
      await promisify(execFile)(link, ['serve'], { env: { PATH: process.env['PATH'], ...env } })
    ).stdout.trim();
  expect(await heaps({})).toBe('1');
  expect(await heaps({ MALLOC_ARENA_MAX: '4' })).toBe('4');
});

it('runs Node without its debugger on Windows', () => {
  expect(readFileSync(join(sources, 'license-desk.cmd'), 'utf8')).toContain('node.exe" --disable-sigusr1 "');
});
