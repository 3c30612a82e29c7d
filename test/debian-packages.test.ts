// What installing Debian packages for the tests leaves behind: nothing.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withoutServices } from '../scripts/debian-packages.mjs';
import { temporaryDirectory } from './helpers/server-process.ts';

function newPolicy(): { folder: string; policy: string } {
  const folder = temporaryDirectory('sbin');
  return { folder, policy: join(folder, 'policy-rc.d') };
}

/** What Debian's scripts do before they start a service; 101 forbids it. */
function exitCodeOf(policy: string): number {
  try {
    execFileSync(policy, ['nginx', 'start']);
    return 0;
  } catch (error) {
    return (error as { status: number }).status;
  }
}

test('no service starts while packages are installed, and the policy is gone afterwards', async () => {
  const { folder, policy } = newPolicy();
  let during = 0;
  await withoutServices(async () => {
    during = exitCodeOf(policy);
  }, policy);
  expect(during).toBe(101);
  expect(readdirSync(folder)).toEqual([]);
});

test('the policy is gone as well where installing fails', async () => {
  const { folder, policy } = newPolicy();
  const failing = withoutServices(() => Promise.reject(new Error('no network')), policy);
  await expect(failing).rejects.toThrow('no network');
  expect(readdirSync(folder)).toEqual([]);
});

test('the policy of a run that was killed is removed by the next one', async () => {
  const { policy } = newPolicy();
  let left = '';
  await withoutServices(async () => {
    left = readFileSync(policy, 'utf8');
  }, policy);
  writeFileSync(policy, left);
  await withoutServices(async () => {}, policy);
  expect(existsSync(policy)).toBe(false);
});

test('a policy of the machine stays as it is', async () => {
  const { policy } = newPolicy();
  writeFileSync(policy, '#!/bin/sh\nexit 0\n');
  await withoutServices(async () => {}, policy);
  expect(readFileSync(policy, 'utf8')).toBe('#!/bin/sh\nexit 0\n');
});
