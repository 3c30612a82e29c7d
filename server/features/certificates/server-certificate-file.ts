// Keeps the server's certificate across restarts, with its private key sealed. In a file, because each server of a
// database needs its own.
import { createPrivateKey } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { checkCredentials, type TlsCredentials } from '#server/platform/tls-credentials.ts';

export interface ServerCertificate {
  /** PEM: the server's certificate, then those up to the authority that clients trust. */
  certificate: string;
  /** PKCS#8. */
  privateKeyDer: Buffer;
  /** Identifies the authority's certificate at the time. */
  authority: string;
  hosts: readonly string[];
}

/** The purpose that the private key is sealed for. */
const SERVER_KEY = 'server-certificate';

const fileContent = z.object({
  certificate: z.string(),
  private_key_sealed: z.string(),
  authority: z.string(),
  hosts: z.array(z.string()),
});

export function toCredentials({ certificate, privateKeyDer }: ServerCertificate): TlsCredentials {
  const key = createPrivateKey({ key: privateKeyDer, format: 'der', type: 'pkcs8' });
  return { certificate, key: key.export({ format: 'pem', type: 'pkcs8' }) as string };
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'tls', 'server.json');
}

/**
 * Reads the file; the private key stays sealed.
 * @returns null if the file is missing
 * @throws Error if it cannot be read
 */
export function readSealedCertificate(dataDir: string): z.infer<typeof fileContent> | null {
  let text: string;
  try {
    text = readFileSync(pathIn(dataDir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const read = fileContent.safeParse(parseJson(text));
  if (!read.success) throw new Error(`${pathIn(dataDir)} is damaged`);
  return read.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * @returns null if the file is missing
 * @throws Error if it is unusable
 */
export function readServerCertificate(dataDir: string, sealer: Sealer): ServerCertificate | null {
  const read = readSealedCertificate(dataDir);
  if (read === null) return null;
  const { private_key_sealed: sealed, ...rest } = read;
  const kept = { ...rest, privateKeyDer: sealer.open(SERVER_KEY, sealed) };
  checkCredentials(toCredentials(kept));
  return kept;
}

export function writeServerCertificate(dataDir: string, sealer: Sealer, kept: ServerCertificate): void {
  const { privateKeyDer, ...rest } = kept;
  const content = { ...rest, private_key_sealed: sealer.seal(SERVER_KEY, privateKeyDer) };
  mkdirSync(dirname(pathIn(dataDir)), { recursive: true, mode: 0o700 });
  writeFileDurably(pathIn(dataDir), `${JSON.stringify(content, null, 2)}\n`);
}
