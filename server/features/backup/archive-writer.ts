// Writes the archive piece by piece, because a database can be larger than memory.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { encryptArchive, encryptedSize } from './archive-encryption.ts';
import { type Manifest, TAR_BLOCK } from './backup-format.ts';

const CHUNK = 256 * 1024;
/** Readable by the owner only, even after someone unpacks it manually. */
const MODE = 0o600;

/** A file for the archive, as text or by its path. */
export type Source<Name extends string = string> = { name: Name } & ({ text: string } | { path: string });

type Measured = Manifest['parts'][number];

interface ArchiveOptions {
  /** Encrypts the archive; null leaves it readable by anyone. */
  passphrase: string | null;
  /** For all files in the archive. */
  mtime: Date;
}

function contentOf(source: Source): Readable {
  return 'text' in source
    ? Readable.from([Buffer.from(source.text)])
    : createReadStream(source.path, { highWaterMark: CHUNK });
}

/** @returns size and SHA-256 of the file at this moment */
export async function measure(source: Source<Measured['name']>): Promise<Measured> {
  const hash = createHash('sha256');
  for await (const chunk of contentOf(source)) hash.update(chunk as Buffer);
  return { name: source.name, bytes: await sizeOf(source), sha256: hash.digest('hex') };
}

async function sizeOf(source: Source): Promise<number> {
  return 'text' in source ? Buffer.byteLength(source.text) : (await stat(source.path)).size;
}

/** @param sizes size of each file in bytes */
export function tarSize(sizes: readonly number[]): number {
  const blocks = sizes.map((size) => 1 + Math.ceil(size / TAR_BLOCK));
  // A tar file ends with two empty blocks.
  return TAR_BLOCK * blocks.reduce((sum, count) => sum + count, 2);
}

async function* packFiles(sources: readonly Source[], mtime: Date): AsyncGenerator<Uint8Array> {
  const archive = pack({ highWaterMark: CHUNK });
  const writing = (async () => {
    for (const source of sources) {
      const header = { name: source.name, size: await sizeOf(source), mode: MODE, mtime };
      await pipeline(contentOf(source), archive.entry(header) as unknown as NodeJS.WritableStream);
    }
    archive.finalize();
  })();
  writing.catch((error: unknown) => archive.destroy(error as Error));
  try {
    yield* archive as AsyncIterable<Uint8Array>;
    await writing;
  } finally {
    archive.destroy();
    await writing.catch(() => {});
  }
}

/** @param sources in the archive's order @returns the archive and its size in bytes */
export async function writeArchive(sources: readonly Source[], { passphrase, mtime }: ArchiveOptions) {
  const size = tarSize(await Promise.all(sources.map(sizeOf)));
  const packed = packFiles(sources, mtime);
  return passphrase === null
    ? { content: packed, size }
    : { content: encryptArchive(packed, passphrase), size: encryptedSize(size) };
}
