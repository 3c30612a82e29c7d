// The command that prints a sign-in link for this installation, as it is typed on this machine.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Both from the sources and from the built file. */
const ROOT = resolve(import.meta.dirname, '../..');

/** For a POSIX shell; for the Windows command prompt, which knows double quotes only. */
export function quoted(path: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return /^[\w.:\\/-]+$/u.test(path) ? path : `"${path}"`;
  return /^[\w./:@%+=-]+$/u.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * @param dataDir null if it is the default one, which the command finds by itself
 * @param isCheckout whether the product runs from its sources, where nothing is installed
 */
export function openCommand(
  dataDir: string | null,
  isCheckout = existsSync(join(ROOT, 'scripts/run-cli.mjs')),
): string {
  const program = isCheckout ? 'npm run -s cli -- open' : 'license-desk open';
  return dataDir === null ? program : `${program} --data-dir ${quoted(dataDir)}`;
}
