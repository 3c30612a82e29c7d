/** Commands that npm cannot install, fetched with apt where that is possible. Node 20 built-ins only. */
import { OUTPUT_TO_STDERR, run } from './child.mjs';
import { findOnPath } from './paths.mjs';

/** @param {string} command */
export const isMissing = (command) => findOnPath(command) === undefined;

/**
 * Installs the Debian packages behind the commands that are missing. Asks nobody, so it does that for root only.
 *
 * @param {Record<string, readonly string[]>} packagesByCommand
 * @returns {Promise<string[]>} the commands that are missing still
 */
export async function ensureCommands(packagesByCommand) {
  const missing = Object.keys(packagesByCommand).filter(isMissing);
  const mayInstall = process.getuid?.() === 0 && !isMissing('apt-get');
  if (missing.length === 0 || !mayInstall) return missing;

  const packages = missing.flatMap((command) => packagesByCommand[command] ?? []);
  process.stderr.write(`Installing Debian packages: ${packages.join(' ')} …\n`);
  const options = { stdio: OUTPUT_TO_STDERR, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  await run('apt-get', ['update', '-qq'], options);
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options);
  return missing.filter(isMissing);
}
