// Files named on the command line, where `-` is stdin or stdout. Errors name the file and the reason.
import { rmSync } from 'node:fs';
import { open, readFile, unlink } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { systemCodeOf, systemReasonOf } from '#server/platform/system-error.ts';
import { modeForOthers } from '#server/platform/umask.ts';
import { ApiError } from '#server/wire/errors.ts';
import { CommandFailure } from './command-failure.ts';
import { commandIo } from './command-io.ts';
import { replaceFile } from './replace-file.ts';

export const STANDARD_STREAM = '-';

/** @throws CommandFailure */
export async function readBytes(path: string): Promise<Buffer> {
  try {
    return path === STANDARD_STREAM ? await buffer(commandIo().stdin) : await readFile(path);
  } catch (error) {
    throw fileFailure('not_found', `cannot read ${path}`, error);
  }
}

/**
 * UTF-8, or UTF-16 with a byte order mark, as which Windows PowerShell writes what a command prints.
 * @throws CommandFailure
 */
export async function readTextFile(path: string): Promise<string> {
  const bytes = await readBytes(path);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return bytes.toString('utf8');
}

/** Writes a file that other users may read. @throws CommandFailure */
export function writeTextFile(path: string, content: string): void {
  try {
    replaceFile(path, content, modeForOthers());
  } catch (error) {
    throw fileFailure('invalid_request', `cannot write ${path}`, error);
  }
}

const INTERRUPTIONS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Part of a file would be in the way of the next try. @returns ends this */
function removeWhenInterrupted(path: string): () => void {
  const keep = () => {
    for (const signal of INTERRUPTIONS) process.off(signal, remove);
  };
  function remove(signal: NodeJS.Signals): void {
    keep();
    rmSync(path, { force: true });
    // Without this handler, it ends the process.
    process.kill(process.pid, signal);
  }
  for (const signal of INTERRUPTIONS) process.on(signal, remove);
  return keep;
}

type Content = string | AsyncIterable<string | Uint8Array>;

/**
 * A file created empty, readable only by its owner, before its secret exists. A signal that ends the process removes it until
 * it is kept.
 */
export interface SecretFile {
  write(content: Content): Promise<void>;
  keep(): void;
  /** Writes it, and keeps it as soon as all of it is written: the secret may exist nowhere else. */
  finish(content: Content): Promise<void>;
  discard(): Promise<void>;
}

/** @throws CommandFailure, also if the file exists */
export async function createSecretFile(path: string): Promise<SecretFile> {
  const what = `cannot write ${path}`;
  const failed = (error: unknown): never => {
    // The content failed to arrive; the file is not the cause.
    throw error instanceof ApiError ? error : fileFailure('invalid_request', what, error);
  };
  const file = await open(path, 'wx', 0o600).catch(failed);
  const keep = removeWhenInterrupted(path);
  const write = async (content: Content, onWritten = () => {}) => {
    await file.writeFile(content).catch(failed);
    onWritten();
    await file.sync().catch(failed);
    await file.close();
  };
  return {
    write: (content) => write(content),
    keep,
    finish: (content) => write(content, keep),
    async discard() {
      await file.close().catch(() => {});
      await unlink(path).catch(() => {});
      keep();
    },
  };
}

/** @param code for a missing file; any other failure is `invalid_request` */
export function fileFailure(
  code: 'not_found' | 'invalid_request',
  what: string,
  error: unknown,
): CommandFailure {
  return new CommandFailure(
    systemCodeOf(error) === 'ENOENT' ? code : 'invalid_request',
    `${what}: ${systemReasonOf(error as Error)}`,
  );
}
