/** Installs commands that npm cannot install, with apt where possible. Node 20 built-ins only. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { OUTPUT_TO_STDERR, run } from './child.mjs';
import { findOnPath } from './paths.mjs';

/** Debian's package scripts ask this file whether they may start services. */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d';
/** Identifies its author: a killed run leaves the file behind, and the next run may remove it. */
const NO_SERVICES = '#!/bin/sh\n# License Desk, while it installs what its tests need\nexit 101\n';

/** @param {string} name of a command, or a file's whole path */
export const isMissing = (name) => (isAbsolute(name) ? !existsSync(name) : findOnPath(name) === undefined);

/**
 * Runs `work` with no service started by the packages that it installs: nginx would occupy port 80.
 *
 * @param {() => Promise<unknown>} work
 * @param {string} [policy] path of the policy file
 */
export async function withoutServices(work, policy = SERVICE_POLICY) {
  if (existsSync(policy) && readFileSync(policy, 'utf8') === NO_SERVICES) rmSync(policy);
  try {
    writeFileSync(policy, NO_SERVICES, { flag: 'wx', mode: 0o755 });
  } catch {
    // This machine has its own policy.
    await work();
    return;
  }
  try {
    await work();
  } finally {
    rmSync(policy, { force: true });
  }
}

/**
 * Installs the Debian packages behind the commands and files that are missing. Installs without a prompt, so only for root.
 *
 * @param {Record<string, readonly string[]>} packagesByName
 * @returns {Promise<string[]>} the names that are still missing
 */
export async function ensureCommands(packagesByName) {
  const missing = Object.keys(packagesByName).filter(isMissing);
  const mayInstall = process.getuid?.() === 0 && !isMissing('apt-get');
  if (missing.length === 0 || !mayInstall) return missing;

  const packages = missing.flatMap((name) => packagesByName[name] ?? []);
  process.stderr.write(`Installing Debian packages: ${packages.join(' ')} …\n`);
  const options = { stdio: OUTPUT_TO_STDERR, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  await run('apt-get', ['update', '-qq'], options);
  const words = ['install', '-y', '-qq', '--no-install-recommends', ...packages];
  await withoutServices(() => run('apt-get', words, options));
  return missing.filter(isMissing);
}
