// A separate log for access: sign-ins, refused credentials, changes of keys, roles and settings. A flood of requests
// can rotate the request log away, but not this one.
import { appendFileSync, existsSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { MINUTE_MS } from '#server/wire/instants.ts';
import type { OnDropped } from './dropped-lines.ts';
import { fileName, fileNumber, removeOldFiles } from './log-file.ts';

const NAME = 'security';
const FULL_BYTES = 10 * 1024 * 1024;
/** Lines kept for a retry while writing fails. */
const MAX_UNWRITTEN = 1000;
const RETRY_MS = 5000;
/** Addresses with separate lines per minute. Further ones are counted together. */
const MAX_ADDRESSES = 20;

export type RefusedCredential = 'api_token' | 'admin_session' | 'sign_in_code' | 'download_token';

export interface SecurityLog {
  /** @param event noun and past tense: `api_token.created` */
  record(event: string, fields: object): void;
  /** Logs an address's first refusal in a minute, and later the number of further ones. */
  refused(credential: RefusedCredential, address: string | undefined, requestId: string): void;
  /** Logs the remaining counts, and what could not be written before. */
  close(): void;
}

interface Repeats {
  credential: RefusedCredential;
  /** Null: the sum of addresses beyond the limit. */
  address: string | null;
  count: number;
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Appends all of the text or nothing: the next line behind part of a line would make both unreadable. */
function appendWhole(path: string, text: string): void {
  const size = sizeOf(path);
  try {
    appendFileSync(path, text, { mode: 0o600 });
  } catch (error) {
    if (existsSync(path)) truncateSync(path, size);
    throw error;
  }
}

/**
 * Appends lines one at a time: there are few, and a crash must not lose any. Continues with a new file after a rename.
 */
function createAppender(logDir: string, onDropped: OnDropped) {
  let number: number | undefined;
  let unwritten: string[] = [];
  let retry: NodeJS.Timeout | undefined;

  function currentFile(): string {
    if (number === undefined) {
      mkdirSync(logDir, { recursive: true, mode: 0o700 });
      number = Math.max(1, ...readdirSync(logDir).flatMap((file) => fileNumber(file, NAME) ?? []));
    }
    const path = join(logDir, fileName(NAME, number));
    if (sizeOf(path) < FULL_BYTES) return path;
    number += 1;
    return join(logDir, fileName(NAME, number));
  }

  function drop(count: number): void {
    if (count <= 0) return;
    unwritten = unwritten.slice(count);
    onDropped(`${NAME}.log`, count);
  }

  function write(): void {
    clearTimeout(retry);
    if (unwritten.length === 0) return;
    try {
      appendWhole(currentFile(), unwritten.join(''));
      unwritten = [];
      removeOldFiles(logDir, NAME);
    } catch {
      // A full disk or a missing directory must not prevent sign-ins.
      drop(unwritten.length - MAX_UNWRITTEN);
      retry = setTimeout(write, RETRY_MS).unref();
    }
  }

  return {
    append(line: string): void {
      unwritten.push(line);
      write();
    },
    close(): void {
      write();
      clearTimeout(retry);
      drop(unwritten.length);
    },
  };
}

/** @param logDir created if missing; contains `security.N.log`, 10 MB each, the newest five */
export function createSecurityLog(logDir: string, onDropped: OnDropped): SecurityLog {
  const { append, close } = createAppender(logDir, onDropped);
  const repeats = new Map<string, Repeats>();
  let timer: NodeJS.Timeout | undefined;

  function record(event: string, fields: object): void {
    append(`${JSON.stringify({ time: new Date().toISOString(), event, ...fields })}\n`);
  }

  function writeRepeats(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const { count, ...about } of repeats.values())
      if (count > 0) record('credential.refused', { ...about, repeated: count });
    repeats.clear();
  }

  return {
    record,
    refused(credential, address = '', requestId) {
      timer ??= setTimeout(writeRepeats, MINUTE_MS).unref();
      const isCrowded = repeats.size >= MAX_ADDRESSES;
      const own = repeats.get(`${credential} ${address}`);
      if (own) {
        own.count += 1;
      } else if (isCrowded) {
        const others = repeats.get(credential) ?? { credential, address: null, count: 0 };
        others.count += 1;
        repeats.set(credential, others);
      } else {
        repeats.set(`${credential} ${address}`, { credential, address, count: 0 });
        record('credential.refused', { credential, address, request_id: requestId });
      }
    },
    close() {
      writeRepeats();
      close();
    },
  };
}
