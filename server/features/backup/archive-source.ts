// Opens a backup as a tar stream, whether it is compressed, encrypted, both or neither.
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { decryptArchive, ENCRYPTED_MAGIC, HEADER_BYTES } from './archive-encryption.ts';
import { BackupError, TAR_BLOCK } from './backup-format.ts';

const CHUNK = 256 * 1024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
const TAR_MAGIC = 'ustar';
const TAR_MAGIC_AT = 257;

type Chunks = AsyncIterable<Uint8Array>;

export interface OpenedArchive {
  tar: Chunks;
  /** Whether a passphrase proves that the backup is unaltered, once it has been read completely. */
  authenticated: boolean;
}

interface Peeked {
  /** The first block, or everything if the file is shorter. */
  head: Buffer;
  /** The bytes from that offset. Call either `from` or `close`, exactly once. */
  from(offset: number): Chunks;
  close(): Promise<void>;
}

async function peek(source: Chunks): Promise<Peeked> {
  const reader = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < TAR_BLOCK) {
    const next = await reader.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const close = async () => void (await reader.return?.());
  async function* from(offset: number): AsyncGenerator<Uint8Array> {
    try {
      if (head.length > offset) yield head.subarray(offset);
      for (let next = await reader.next(); !next.done; next = await reader.next()) yield next.value;
    } finally {
      await close();
    }
  }
  return { head, from, close };
}

function startsWith(head: Buffer, magic: Buffer): boolean {
  return head.subarray(0, magic.length).equals(magic);
}

function decompress(source: Chunks): Chunks {
  // An error ends the last stream, where its reader receives it.
  return pipeline(Readable.from(source), createGunzip({ chunkSize: CHUNK }), () => {});
}

function isTar(head: Buffer): boolean {
  return head.toString('latin1', TAR_MAGIC_AT, TAR_MAGIC_AT + TAR_MAGIC.length) === TAR_MAGIC;
}

/**
 * Reads only the beginning. Errors in the rest are thrown while `tar` is read.
 * @param passphrase null if not given; ignored if the archive is not encrypted
 * @throws BackupError if it is not an archive, or is encrypted and the passphrase is missing
 */
export async function openArchive(file: string, passphrase: string | null): Promise<OpenedArchive> {
  let opened = await peek(createReadStream(file, { highWaterMark: CHUNK }));
  if (startsWith(opened.head, GZIP_MAGIC)) opened = await peek(decompress(opened.from(0)));
  const { head, from, close } = opened;
  const isEncrypted = startsWith(head, ENCRYPTED_MAGIC);
  if (isEncrypted && passphrase !== null) {
    const header = head.subarray(0, HEADER_BYTES);
    return { tar: decryptArchive(header, from(HEADER_BYTES), passphrase), authenticated: true };
  }
  if (!isEncrypted && isTar(head)) return { tar: from(0), authenticated: false };
  await close();
  throw new BackupError(isEncrypted ? 'is encrypted: enter its passphrase' : 'is not a License Desk backup');
}
