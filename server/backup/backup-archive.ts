// Writes and reads the archive, piece by piece: a database may be larger than memory.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { BackupError, MANIFEST, manifest, type Manifest, MOST_OF_A_SMALL_FILE } from './backup-format.ts';

const TAR_BLOCK = 512;
const CHUNK = 256 * 1024;
/** For its owner only, also where somebody unpacks it by hand. */
const MODE = 0o600;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** One file of the archive, as text or where it is. */
export type Source<Name extends string = string> = { name: Name } & ({ text: string } | { path: string });

type Measured = Manifest['parts'][number];
type Chunks = AsyncIterable<Buffer>;

function contentOf(source: Source): Readable {
  return 'text' in source
    ? Readable.from([Buffer.from(source.text)])
    : createReadStream(source.path, { highWaterMark: CHUNK });
}

/** @returns bytes and SHA-256 of what is in it now */
export async function measure(source: Source<Measured['name']>): Promise<Measured> {
  const hash = createHash('sha256');
  for await (const chunk of contentOf(source)) hash.update(chunk as Buffer);
  return { name: source.name, bytes: await sizeOf(source), sha256: hash.digest('hex') };
}

async function sizeOf(source: Source): Promise<number> {
  return 'text' in source ? Buffer.byteLength(source.text) : (await stat(source.path)).size;
}

/** Of the whole archive. */
export async function archiveSize(sources: readonly Source[]): Promise<number> {
  const sizes = await Promise.all(sources.map(sizeOf));
  const blocks = sizes.map((size) => 1 + Math.ceil(size / TAR_BLOCK));
  // Two empty blocks are its end.
  return TAR_BLOCK * blocks.reduce((sum, count) => sum + count, 2);
}

/** In the order given. */
export async function* writeArchive(sources: readonly Source[], mtime: Date): AsyncGenerator<Uint8Array> {
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

async function isCompressed(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(GZIP_MAGIC.length), 0, GZIP_MAGIC.length, 0);
    return buffer.equals(GZIP_MAGIC);
  } finally {
    await handle.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Its message would quote the text, which may be anything.
    throw new Error(`${MANIFEST} is not what it was`);
  }
}

async function readManifest(entry: Chunks): Promise<Manifest> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of entry) {
    bytes += chunk.length;
    if (bytes > MOST_OF_A_SMALL_FILE) throw new Error('its manifest is too large');
    chunks.push(chunk);
  }
  const read = manifest.safeParse(parseJson(Buffer.concat(chunks).toString()));
  if (!read.success) throw new BackupError('is no backup that this version of License Desk can read');
  return read.data;
}

/** On disk when this ends, unless `path` is null. @throws Error if it is not what the manifest says */
async function unpack(entry: Chunks, part: Measured, path: string | null): Promise<void> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = path === null ? null : await open(path, 'wx', MODE);
  try {
    for await (const chunk of entry) {
      hash.update(chunk);
      bytes += chunk.length;
      await file?.writeFile(chunk);
    }
    await file?.sync();
  } finally {
    await file?.close();
  }
  if (bytes !== part.bytes || hash.digest('hex') !== part.sha256)
    throw new Error(`${part.name} is not what it was`);
}

/**
 * Checks every byte of it; gzipped it is read, too.
 * @param directory where to unpack it, empty; null: it is only checked
 * @param accept is shown the manifest before anything is written, and throws to refuse it
 * @throws BackupError if it is no backup; Error if it is damaged or cannot be read or unpacked
 */
export async function readArchive(
  file: string,
  directory: string | null,
  accept: (found: Manifest) => void,
): Promise<Manifest> {
  const unzip = (await isCompressed(file)) ? [createGunzip()] : [];
  const archive = extract();
  const feeding = pipeline([
    createReadStream(file, { highWaterMark: CHUNK }),
    ...unzip,
    archive as unknown as NodeJS.WritableStream,
  ]);
  // The loop hears of it as well.
  feeding.catch(() => {});
  let found: Manifest | undefined;
  const awaited = new Map<string, Measured>();
  for await (const entry of archive) {
    const { name } = entry.header;
    if (!found) {
      if (name !== MANIFEST) throw new BackupError('is no backup of License Desk');
      found = await readManifest(entry as unknown as Chunks);
      accept(found);
      for (const part of found.parts) awaited.set(part.name, part);
      continue;
    }
    const part = awaited.get(name);
    if (!part) throw new Error(`its manifest does not tell of ${JSON.stringify(name)}`);
    awaited.delete(name);
    await unpack(entry as unknown as Chunks, part, directory && join(directory, name));
  }
  await feeding;
  if (!found) throw new BackupError('is no backup of License Desk');
  if (awaited.size > 0) throw new Error(`${[...awaited.keys()].join(', ')} is missing`);
  return found;
}
