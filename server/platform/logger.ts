// Logs: JSON lines on stderr and in the data directory, rotated. Requests are logged without bodies, headers or queries.
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pino, { type Logger, type LoggerOptions } from 'pino';
import pinoRoll from 'pino-roll';
import { maskPasswords } from './mask-passwords.ts';

export type { Logger };

/** Lines are gathered this far, or this long, before they are written: a write per request costs a fifth of the speed. */
const GATHERED_LENGTH = 32 * 1024;
const GATHERED_MS = 250;
/** Lines beyond this are dropped while nothing can be written. */
const MOST_UNWRITTEN_BYTES = 1024 * 1024;
const KEPT_FILES = 5;
const FILE_NAME = /^license-desk\.(\d+)\.log$/u;

type Destination = ReturnType<typeof pino.destination>;

export interface LogSink {
  logger: Logger;
  /** Writes what is still gathered. */
  close(): Promise<void>;
}

/** Of an error only what says where it went wrong: database errors also carry the statement and its values. */
function describeError(error: Error & { code?: unknown }): object {
  return {
    type: error.name,
    message: maskPasswords(error.message),
    code: error.code,
    stack: maskPasswords(error.stack ?? ''),
  };
}

/** What cannot be removed now is tried again with the next file. */
function removeOldFiles(logDir: string): void {
  try {
    const numberOf = (name: string) => Number(FILE_NAME.exec(name)?.[1]);
    const names = readdirSync(logDir).filter((name) => FILE_NAME.test(name));
    const newestFirst = names.toSorted((a, b) => numberOf(b) - numberOf(a));
    for (const name of newestFirst.slice(KEPT_FILES)) rmSync(join(logDir, name));
  } catch {
    // A log that somebody else holds open, or that is gone already, is no reason to do without one.
  }
}

/** Gathers lines, and hands them to all destinations as one text. */
function gatherInto(destinations: readonly Destination[]) {
  let lines: string[] = [];
  let length = 0;
  const flush = () => {
    if (length === 0) return;
    const text = lines.join('');
    lines = [];
    length = 0;
    for (const destination of destinations) destination.write(text);
  };
  return {
    write(line: string) {
      lines.push(line);
      length += line.length;
      if (length >= GATHERED_LENGTH) flush();
    },
    flush,
  };
}

let stampedAt = 0;
let stamp = '';

/** The member `time` of a line; many lines share a millisecond. */
function timestamp(): string {
  const now = Date.now();
  if (now !== stampedAt) {
    stampedAt = now;
    stamp = `,"time":"${new Date(now).toISOString()}"`;
  }
  return stamp;
}

/**
 * @param logDir made if missing; holds `license-desk.N.log`, 10 MB each, the newest five
 * @param toStderr false keeps a server that runs inside another program from talking in between
 */
export async function openLog(logDir: string, toStderr: boolean): Promise<LogSink> {
  // At least one byte: with none, flush() would not try again what failed before.
  const shared = { sync: false, minLength: 1, maxLength: MOST_UNWRITTEN_BYTES };
  const file = await pinoRoll({
    ...shared,
    file: join(logDir, 'license-desk'),
    extension: '.log',
    size: '10m',
    mkdir: true,
    mode: 0o600,
  });
  // pino-roll's own limit counts before or after the new file is there, as it happens, and not at a start.
  file.on('ready', () => removeOldFiles(logDir));
  await once(file, 'ready');
  const destinations = toStderr ? [pino.destination({ ...shared, dest: 2 }), file] : [file];
  // A disk that is full is no reason to die: what could not be written is tried again with the next lines.
  for (const destination of destinations) destination.on('error', () => {});
  const gathered = gatherInto(destinations);
  const options: LoggerOptions = {
    base: null,
    timestamp,
    serializers: { err: describeError },
    hooks: {
      // A request's line. The same as pino makes of it, in half the time, which a list that is asked for often notices.
      logMethod(given, method, level) {
        const [fields] = given as unknown[];
        if (given.length > 1 || typeof fields !== 'object' || fields === null || 'err' in fields)
          method.apply(this, given);
        else gathered.write(`{"level":${level}${timestamp()},${JSON.stringify(fields).slice(1)}\n`);
      },
    },
  };
  const timer = setInterval(() => {
    gathered.flush();
    for (const destination of destinations) destination.flush();
  }, GATHERED_MS);
  timer.unref();
  return {
    logger: pino(options, gathered),
    async close() {
      clearInterval(timer);
      gathered.flush();
      await Promise.all(destinations.map((destination) => end(destination)));
    },
  };
}

/** Writes what is left, if it can be written. Not by flushSync(), which tries for ever on a full disk. */
async function end(destination: Destination): Promise<void> {
  await new Promise<void>((resolve) => {
    destination.once('close', resolve);
    destination.once('error', () => resolve());
    destination.end();
  });
  destination.destroy();
}
