// Logs: JSON lines on stderr and in the data directory, rotated. Requests are logged without bodies, headers or queries.
import { once } from 'node:events';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import pinoRoll from 'pino-roll';

export type { Logger };

/** Gathers lines before writing, as a write per request would cost a quarter of the throughput. */
const BUFFER_BYTES = 8 * 1024;
const FLUSH_MS = 500;
/** Lines beyond this are dropped while nothing can be written. */
const MOST_UNWRITTEN_BYTES = 1024 * 1024;
const KEPT_FILES = 5;

export interface LogSink {
  logger: Logger;
  /** Writes what is still gathered. */
  close(): void;
}

/** Of an error only what says where it went wrong: database errors also carry the statement and its values. */
function describeError(error: Error & { code?: unknown }): object {
  return { type: error.name, message: error.message, code: error.code, stack: error.stack };
}

/**
 * @param logDir made if missing; holds `license-desk.N.log`, 10 MB each, the newest five
 * @param toStderr false keeps a server that runs inside another program from talking in between
 */
export async function openLog(logDir: string, toStderr: boolean): Promise<LogSink> {
  const file = await pinoRoll({
    file: join(logDir, 'license-desk'),
    extension: '.log',
    size: '10m',
    limit: { count: KEPT_FILES, removeOtherLogFiles: true },
    mkdir: true,
    sync: false,
    minLength: BUFFER_BYTES,
    maxLength: MOST_UNWRITTEN_BYTES,
    mode: 0o600,
  });
  await once(file, 'ready');
  const stderr = pino.destination({
    dest: 2,
    sync: false,
    minLength: BUFFER_BYTES,
    maxLength: MOST_UNWRITTEN_BYTES,
  });
  // A disk that is full is no reason to die: what could not be written is tried again with the next lines.
  for (const stream of [file, stderr]) stream.on('error', () => {});
  const logger = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
    },
    pino.multistream([...(toStderr ? [{ stream: stderr }] : []), { stream: file }]),
  );
  const flush = () => {
    stderr.flush();
    file.flush();
  };
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    logger,
    close: () => {
      clearInterval(timer);
      for (const stream of [stderr, file]) {
        try {
          stream.flushSync();
        } catch {
          // Nor a reason to stop in a hurry.
        }
      }
    },
  };
}
