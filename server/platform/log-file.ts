// Where log lines go: a file that starts a new one when full, and stderr. Neither can stop the server by failing.
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import pinoRoll from 'pino-roll';

export type Destination = ReturnType<typeof pino.destination>;

export const LOG_FILE = 'license-desk';
const KEPT_FILES = 5;
/** Lines beyond this are dropped while nothing can be written. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;
/** At least one byte: with none, flush() would not try again what failed before. */
const SHARED = { sync: false, minLength: 1, maxLength: MAX_UNWRITTEN_BYTES };

/** Removes all but the newest `NAME.N.log`. What cannot be removed now is tried again with the next file. */
export function removeOldFiles(logDir: string, name: string): void {
  try {
    const numbers = readdirSync(logDir).flatMap((file) => fileNumber(file, name) ?? []);
    for (const number of numbers.toSorted((a, b) => b - a).slice(KEPT_FILES))
      rmSync(join(logDir, fileName(name, number)));
  } catch {
    // A log that another program holds open, or that is gone already, is no reason to do without one.
  }
}

export function fileName(name: string, number: number): string {
  return `${name}.${number}.log`;
}

/** @returns N of `NAME.N.log`; undefined for other files */
export function fileNumber(file: string, name: string): number | undefined {
  const [base, number, extension, ...rest] = file.split('.');
  const isOurs = base === name && extension === 'log' && rest.length === 0 && /^\d+$/u.test(number ?? '');
  return isOurs ? Number(number) : undefined;
}

/** @returns the file, opened; `reopen()` makes it anew after another program has renamed it */
export async function openLogFile(logDir: string): Promise<Destination> {
  const file = await pinoRoll({
    ...SHARED,
    file: join(logDir, LOG_FILE),
    extension: '.log',
    size: '10m',
    mkdir: true,
    mode: 0o600,
  });
  // pino-roll's own limit counts before or after the new file exists, as it happens, and not at a start.
  file.on('ready', () => removeOldFiles(logDir, LOG_FILE));
  await once(file, 'ready');
  return file;
}

export function openStderr(): Destination {
  return pino.destination({ ...SHARED, dest: 2 });
}

/** Writes what is left, if it can be written. Not by flushSync(), which tries for ever on a full disk. */
export async function endDestination(destination: Destination): Promise<void> {
  await new Promise<void>((resolve) => {
    destination.once('close', resolve);
    destination.once('error', () => resolve());
    destination.end();
  });
  destination.destroy();
}
