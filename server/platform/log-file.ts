// Log destinations: a rotated file, and stderr. The server keeps running if either fails.
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';

export type Destination = ReturnType<typeof pino.destination>;

export const LOG_FILE = 'license-desk';
const KEPT_FILES = 5;
/** While writing fails, lines beyond this are dropped. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;
/** At least one byte: with zero, flush() would not retry after a failure. */
const SHARED = { sync: false, minLength: 1, maxLength: MAX_UNWRITTEN_BYTES, contentMode: 'buffer' } as const;

/** Removes all but the newest `NAME.N.log`. Retried with the next file if a removal fails. */
export function removeOldFiles(logDir: string, name: string): void {
  try {
    const numbers = readdirSync(logDir).flatMap((file) => fileNumber(file, name) ?? []);
    for (const number of numbers.toSorted((a, b) => b - a).slice(KEPT_FILES))
      rmSync(join(logDir, fileName(name, number)));
  } catch {
    // A log that another program has open, or that is already gone, must not stop logging.
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

/** Opens the log file. `reopen()` creates it again after another program has renamed it. */
export async function openLogFile(logDir: string): Promise<Destination> {
  // Loads 300 modules for its dates, which commands that write no log file do not need.
  const { default: pinoRoll } = await import('pino-roll');
  const file = await pinoRoll({
    ...SHARED,
    file: join(logDir, LOG_FILE),
    extension: '.log',
    size: '10m',
    mkdir: true,
    mode: 0o600,
  });
  // pino-roll's own limit is applied before or after creating the file, depending on timing, and not at the start.
  file.on('ready', () => removeOldFiles(logDir, LOG_FILE));
  await once(file, 'ready');
  return file;
}

/** @param bytes not to be changed afterwards */
export function writeBytes(destination: Destination, bytes: Buffer): void {
  // The type knows only text, which is the library's other content mode.
  destination.write(bytes as unknown as string);
}

export function openStderr(): Destination {
  return pino.destination({ ...SHARED, dest: 2 });
}

/** Writes the remaining lines if possible. flushSync() would retry forever on a full disk. */
export async function endDestination(destination: Destination): Promise<void> {
  await new Promise<void>((resolve) => {
    destination.once('close', resolve);
    destination.once('error', () => resolve());
    destination.end();
  });
  destination.destroy();
}
