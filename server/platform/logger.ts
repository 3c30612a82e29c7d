// Logs JSON lines to stderr and to a rotated file in the data directory. Requests are logged without bodies, headers or
// queries.
import pino, { type Logger, type LoggerOptions } from 'pino';
import type { OnDropped } from './dropped-lines.ts';
import {
  type Destination,
  endDestination,
  LOG_FILE,
  openLogFile,
  openStderr,
  writeBytes,
} from './log-file.ts';
import { maskPasswords } from './mask-passwords.ts';

export type { Logger };

/** Lines are buffered up to this length or time, because a write per request costs a fifth of the throughput. */
const GATHERED_LENGTH = 32 * 1024;
const GATHERED_MS = 250;
/** Limits an error message. A longer one contains client input. */
const MAX_MESSAGE_LENGTH = 1000;
const MAX_STACK_LENGTH = 4000;

export interface LogSink {
  logger: Logger;
  /** Opens the file again after another program has renamed it. Buffered lines go to the new file. */
  reopen(): void;
  /** Writes the buffered lines. */
  close(): Promise<void>;
}

/** Logs only where an error occurred, because database errors contain the statement and its values. */
function describeError(error: Error & { code?: unknown }): object {
  return {
    type: error.name,
    message: maskPasswords(error.message).slice(0, MAX_MESSAGE_LENGTH),
    code: error.code,
    stack: maskPasswords(error.stack ?? '').slice(0, MAX_STACK_LENGTH),
  };
}

/** Encodes once for all destinations. ASCII text is identical in both encodings, and latin1 is much cheaper. */
function encode(text: string): Buffer {
  return Buffer.from(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8');
}

/** Buffers lines, and writes them to all destinations as one text. */
function gatherInto(destinations: readonly Destination[]) {
  let lines: string[] = [];
  let length = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (length === 0) return;
    const text = lines.join('');
    lines = [];
    length = 0;
    const bytes = encode(text);
    for (const destination of destinations) writeBytes(destination, bytes);
  };
  return {
    write(line: string) {
      lines.push(line);
      length += line.length;
      if (length >= GATHERED_LENGTH) flush();
      else timer ??= setTimeout(flush, GATHERED_MS).unref();
    },
    flush,
  };
}

let stampedAt = 0;
let stamp = '';

/** The member `time` of a line. Many lines share a millisecond, so it is cached. */
function timestamp(): string {
  const now = Date.now();
  if (now !== stampedAt) {
    stampedAt = now;
    stamp = `,"time":"${new Date(now).toISOString()}"`;
  }
  return stamp;
}

/** Reports each drop, and logs the number of missing lines once writing works again. */
function watchDrops(name: string, destination: Destination, onDropped: OnDropped, logger: Logger): void {
  let missing = 0;
  destination.on('drop', (bytes: Buffer) => {
    const count = bytes.toString().split('\n').length - 1;
    missing += count;
    onDropped(name, count);
  });
  destination.on('drain', () => {
    if (missing === 0) return;
    const count = missing;
    missing = 0;
    logger.warn({ destination: name, count }, 'log lines were dropped because they could not be written');
  });
}

/** Tries again until everything is written. A full disk must not end the process. */
function retryWrites(destination: Destination): { end(): void } {
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    clearInterval(timer);
    timer = undefined;
  };
  destination.on('error', () => {
    timer ??= setInterval(() => destination.flush(), GATHERED_MS).unref();
  });
  destination.on('drain', end);
  return { end };
}

/**
 * @param logDir created if missing; contains `license-desk.N.log`, 10 MB each, the newest five
 * @param toStderr false for a server inside another program, whose output must stay clean
 */
export async function openLog(logDir: string, toStderr: boolean, onDropped: OnDropped): Promise<LogSink> {
  const file = await openLogFile(logDir);
  const destinations = new Map([[`${LOG_FILE}.log`, file]]);
  if (toStderr) destinations.set('stderr', openStderr());
  const gathered = gatherInto([...destinations.values()]);
  const options: LoggerOptions = {
    base: null,
    timestamp,
    serializers: { err: describeError },
    hooks: {
      // A fast path for request lines: the same output as pino's in half the time, which matters for frequently called
      // endpoints.
      logMethod(given, method, level) {
        const [fields] = given as unknown[];
        if (given.length > 1 || typeof fields !== 'object' || fields === null || 'err' in fields)
          method.apply(this, given);
        else gathered.write(`{"level":${level}${timestamp()},${JSON.stringify(fields).slice(1)}\n`);
      },
    },
  };
  const logger = pino(options, gathered);
  for (const [name, destination] of destinations) {
    watchDrops(name, destination, onDropped, logger);
  }
  const retries = [...destinations.values()].map((destination) => retryWrites(destination));
  return {
    logger,
    reopen() {
      gathered.flush();
      file.reopen();
    },
    async close() {
      for (const { end } of retries) end();
      gathered.flush();
      await Promise.all([...destinations.values()].map((destination) => endDestination(destination)));
    },
  };
}
