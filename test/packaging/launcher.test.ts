// The launcher of the server's package, beside a Node that says what it was given.
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { serverEnvironment } from '../../scripts/paths.mjs';
import { temporaryDirectory } from '../helpers/server-process.ts';

const sources = resolve(import.meta.dirname, '../../packaging/server');

it.skipIf(process.platform === 'win32')(
  'runs Node without its debugger and with less memory, through a link too',
  async () => {
    const folder = temporaryDirectory('app with spaces');
    const launcher = join(folder, 'license-desk');
    copyFileSync(join(sources, 'license-desk'), launcher);
    writeFileSync(join(folder, 'node'), '#!/bin/sh\nenv | grep "^MALLOC_" | sort\nprintf "%s\\n" "$@"\n');
    for (const file of [launcher, join(folder, 'node')]) chmodSync(file, 0o755);
    const link = join(temporaryDirectory(), 'license-desk');
    symlinkSync(launcher, link);
    const { stdout } = await promisify(execFile)(link, ['serve', '--base-url', 'https://a b']);
    expect(stdout.trimEnd().split('\n')).toEqual([
      ...Object.entries(serverEnvironment).map(([name, value]) => `${name}=${value}`),
      '--disable-sigusr1',
      join(folder, 'out/main/cli.js'),
      'serve',
      '--base-url',
      'https://a b',
    ]);
  },
);

it('does the same on Windows', () => {
  expect(readFileSync(join(sources, 'license-desk.cmd'), 'utf8')).toContain('node.exe" --disable-sigusr1 "');
});
