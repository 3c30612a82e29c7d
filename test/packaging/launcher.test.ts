// The launcher of the server's package, beside a Node that says what it was given.
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { NODE_FLAGS } from '#server/process/node-flags.ts';
import { nodeFlags } from '../../scripts/paths.mjs';
import { temporaryDirectory } from '../helpers/server-process.ts';

const sources = resolve(import.meta.dirname, '../../packaging/server');

it.skipIf(process.platform === 'win32')('gives Node its flags, through a link too', async () => {
  const folder = temporaryDirectory('app with spaces');
  const launcher = join(folder, 'license-desk');
  copyFileSync(join(sources, 'license-desk'), launcher);
  writeFileSync(join(folder, 'node'), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  for (const file of [launcher, join(folder, 'node')]) chmodSync(file, 0o755);
  const link = join(temporaryDirectory(), 'license-desk');
  symlinkSync(launcher, link);
  const { stdout } = await promisify(execFile)(link, ['serve', '--base-url', 'https://a b']);
  expect(stdout.trimEnd().split('\n')).toEqual([
    ...NODE_FLAGS,
    join(folder, 'out/main/cli.js'),
    'serve',
    '--base-url',
    'https://a b',
  ]);
});

it('does the same on Windows', () => {
  const script = readFileSync(join(sources, 'license-desk.cmd'), 'utf8');
  expect(script).toContain(`node.exe" ${NODE_FLAGS.join(' ')} "`);
});

it('gets the same flags from a checkout', () => {
  expect(nodeFlags).toEqual(NODE_FLAGS);
});
