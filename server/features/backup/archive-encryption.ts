// Encrypts and authenticates a whole archive under a passphrase, in chunks (the STREAM construction: Hoang, Reyhanitabar,
// Rogaway and Vizár, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance", 2015).
// docs/guide/backup.md describes the bytes.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { areAcceptable, derivePassphraseKey, SCRYPT_PARAMETERS } from '#server/platform/passphrase-key.ts';
import { BackupError } from './backup-format.ts';

export const ENCRYPTED_MAGIC = Buffer.from('license-desk-backup');
export const HEADER_BYTES = 64;

const VERSION = 1;
const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;
const SALT_BYTES = 32;
const PREFIX_BYTES = 7;
const COUNTER_BYTES = 4;

/** Offsets of the header fields after the magic. */
const AT = { version: 19, logN: 20, r: 21, p: 22, reserved: 23, salt: 24, prefix: 56, end: 63 } as const;

type Chunks = AsyncIterable<Uint8Array>;

/** @param bytes size of the archive @returns size of the encrypted archive */
export function encryptedSize(bytes: number): number {
  return HEADER_BYTES + bytes + TAG_BYTES * Math.max(1, Math.ceil(bytes / CHUNK_BYTES));
}

function newHeader(): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  ENCRYPTED_MAGIC.copy(header);
  header.writeUInt8(VERSION, AT.version);
  header.writeUInt8(Math.log2(SCRYPT_PARAMETERS.n), AT.logN);
  header.writeUInt8(SCRYPT_PARAMETERS.r, AT.r);
  header.writeUInt8(SCRYPT_PARAMETERS.p, AT.p);
  randomBytes(SALT_BYTES + PREFIX_BYTES).copy(header, AT.salt);
  return header;
}

/** @throws BackupError */
function parametersOf(header: Buffer) {
  if (header.length < HEADER_BYTES) throw new BackupError('is damaged: it ends within its header');
  const parameters = {
    n: 2 ** header.readUInt8(AT.logN),
    r: header.readUInt8(AT.r),
    p: header.readUInt8(AT.p),
  };
  const isKnown =
    header.readUInt8(AT.version) === VERSION && header[AT.reserved] === 0 && header[AT.end] === 0;
  if (!isKnown)
    throw new BackupError('has an encryption format that this version of License Desk cannot read');
  if (!areAcceptable(parameters))
    throw new BackupError('has scrypt parameters outside the accepted range (at most 1 GiB of memory)');
  return parameters;
}

function nonceOf(header: Buffer, counter: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(PREFIX_BYTES + COUNTER_BYTES + 1);
  header.copy(nonce, 0, AT.prefix, AT.prefix + PREFIX_BYTES);
  nonce.writeUInt32BE(counter, PREFIX_BYTES);
  nonce.writeUInt8(isLast ? 1 : 0, PREFIX_BYTES + COUNTER_BYTES);
  return nonce;
}

function keyFor(header: Buffer, passphrase: string): Promise<Buffer> {
  const salt = header.subarray(AT.salt, AT.salt + SALT_BYTES);
  return derivePassphraseKey(passphrase, salt, parametersOf(header));
}

interface Chunk {
  bytes: Buffer;
  counter: number;
  isLast: boolean;
}

/**
 * Every chunk except the last has `size` bytes. The last has at least one, unless the source is empty. Yields as many
 * chunks at a time as arrive together: one step per chunk would cost more than encrypting it.
 */
async function* inChunks(source: Chunks, size: number): AsyncGenerator<Chunk[]> {
  let pending: Uint8Array[] = [];
  let length = 0;
  let counter = 0;
  for await (const piece of source) {
    pending.push(piece);
    length += piece.length;
    if (length <= size) continue;
    const joined = Buffer.concat(pending);
    const chunks: Chunk[] = [];
    let at = 0;
    for (; joined.length - at > size; at += size)
      chunks.push({ bytes: joined.subarray(at, at + size), counter: counter++, isLast: false });
    yield chunks;
    pending = [joined.subarray(at)];
    length = joined.length - at;
  }
  yield [{ bytes: Buffer.concat(pending), counter, isLast: true }];
}

/** @returns the encrypted archive */
export async function* encryptArchive(source: Chunks, passphrase: string): AsyncGenerator<Uint8Array> {
  const header = newHeader();
  const key = await keyFor(header, passphrase);
  yield header;
  for await (const chunks of inChunks(source, CHUNK_BYTES)) {
    yield Buffer.concat(
      chunks.flatMap(({ bytes, counter, isLast }) => {
        const cipher = createCipheriv('aes-256-gcm', key, nonceOf(header, counter, isLast));
        cipher.setAAD(header);
        return [cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
      }),
    );
  }
}

/**
 * Yields only authenticated data. A truncated file fails at its end, so wait for the end before relying on the data.
 * @param source the bytes after the header
 * @throws BackupError
 */
export async function* decryptArchive(
  header: Buffer,
  source: Chunks,
  passphrase: string,
): AsyncGenerator<Buffer> {
  const key = await keyFor(header, passphrase);
  for await (const chunks of inChunks(source, CHUNK_BYTES + TAG_BYTES))
    yield Buffer.concat(chunks.flatMap((chunk) => openChunk(key, header, chunk) ?? refuse(chunk.counter)));
}

/** @returns null if authentication fails */
function openChunk(key: Buffer, header: Buffer, { bytes, counter, isLast }: Chunk): Buffer[] | null {
  if (bytes.length < TAG_BYTES) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(header, counter, isLast));
  decipher.setAAD(header).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return [decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()];
  } catch {
    return null;
  }
}

function refuse(counter: number): never {
  throw new BackupError(
    counter === 0
      ? 'cannot be decrypted: the passphrase is wrong or the file was altered'
      : 'was altered or truncated: authentication failed',
  );
}
