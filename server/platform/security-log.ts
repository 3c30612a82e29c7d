// A log of its own for what concerns access: sign-ins, refused credentials, changes of keys, roles and settings. A flood
// of requests rotates the request log away; it cannot do that to this one.
import { appendFileSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { OnDropped } from './dropped-lines.ts';
import { fileName, fileNumber, removeOldFiles } from './log-file.ts';

const NAME = 'security';
const FULL_BYTES = 10 * 1024 * 1024;
/** Lines kept for the next attempt while nothing can be written. */
const MAX_UNWRITTEN = 1000;
const MINUTE_MS = 60_000;
/** Addresses that get lines of their own within a minute; the others are counted together. */
const MAX_ADDRESSES = 20;

export type RefusedCredential = 'api_token' | 'admin_session' | 'sign_in_code' | 'download_token';

export interface SecurityLog {
  /** @param event past tense, after the noun: `api_token.created` */
  record(event: string, fields: object): void;
  /** Writes the first refusal of an address in a minute, and afterwards how many more there were. */
  refused(credential: RefusedCredential, address: string | undefined, requestId: string): void;
  /** Writes what is still counted. */
  close(): void;
}

interface Repeats {
  credential: RefusedCredential;
  /** Null: more addresses than are told apart. */
  address: string | null;
  count: number;
}

/** Appends lines one by one, as they are few, and none must be lost in a crash. Follows a rename by another program. */
function appendTo(logDir: string, onDropped: OnDropped): (line: string) => void {
  let number: number | undefined;
  let unwritten: string[] = [];

  function currentFile(): string {
    if (number === undefined) {
      mkdirSync(logDir, { recursive: true, mode: 0o700 });
      number = Math.max(1, ...readdirSync(logDir).flatMap((file) => fileNumber(file, NAME) ?? []));
    }
    const path = join(logDir, fileName(NAME, number));
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < FULL_BYTES) return path;
    number += 1;
    return join(logDir, fileName(NAME, number));
  }

  return (line) => {
    unwritten.push(line);
    try {
      appendFileSync(currentFile(), unwritten.join(''), { mode: 0o600 });
      unwritten = [];
      removeOldFiles(logDir, NAME);
    } catch {
      // A full disk or a directory that is gone must not keep anyone from signing in.
      const excess = unwritten.length - MAX_UNWRITTEN;
      if (excess <= 0) return;
      unwritten = unwritten.slice(excess);
      onDropped(`${NAME}.log`, excess);
    }
  };
}

/** @param logDir made if missing; holds `security.N.log`, 10 MB each, the newest five */
export function createSecurityLog(logDir: string, onDropped: OnDropped): SecurityLog {
  const append = appendTo(logDir, onDropped);
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
    close: writeRepeats,
  };
}
