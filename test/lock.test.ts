// The lock between commands that install or build in the same checkout.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeLock } from '../scripts/lock.mjs';
import { temporaryDirectory } from './helpers/server-process.ts';

const lockFile = () => join(temporaryDirectory(), 'out', '.lock');

test('is held by one command at a time', async () => {
  const file = lockFile();
  const release = await takeLock(file);
  const waits = Promise.withResolvers<number>();
  const second = takeLock(file, waits.resolve);
  expect(await waits.promise).toBe(process.pid);
  release();
  (await second)();
});

test.each([
  [
    'a command that has ended',
    () => execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }),
  ],
  ['a command that was killed before it wrote its number', () => ''],
])('is taken from %s', async (_name, content) => {
  const file = lockFile();
  (await takeLock(file))();
  writeFileSync(file, content());
  (await takeLock(file))();
});

test('a folder that cannot be written ends the command', async () => {
  await expect(takeLock(join(temporaryDirectory(), 'x'.repeat(300)))).rejects.toThrow('ENAMETOOLONG');
});
