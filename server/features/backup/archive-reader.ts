// Reads an archive piece by piece, checks every byte against the manifest, and reads no more than the manifest
// declares.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { openArchive } from './archive-source.ts';
import { tarSize } from './archive-writer.ts';
import { BackupError, MANIFEST, manifest, type Manifest, MAX_SMALL_FILE } from './backup-format.ts';

/** Readable by the owner only. */
const MODE = 0o600;
/** Maximum offset of the manifest's end, including headers and the first piece of the next entry. */
const MAX_UNTIL_MANIFEST = 4 * MAX_SMALL_FILE;
/** Padding that other programs write at the end of an archive. */
const MAX_PADDING = 64 * 1024;

type Measured = Manifest['parts'][number];
type Chunks = AsyncIterable<Buffer>;

interface ReadOptions {
  passphrase: string | null;
  /** An empty directory to unpack into; null only checks the archive. */
  directory: string | null;
  /** Receives the manifest before anything is written. Throws to refuse the archive. */
  accept?(found: Manifest, authenticated: boolean): Promise<void> | void;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The JSON error would quote the text, which can be anything.
    throw new Error(`${MANIFEST} is not valid JSON`);
  }
}

async function readManifest(entry: Chunks): Promise<{ found: Manifest; bytes: number }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of entry) {
    bytes += chunk.length;
    if (bytes > MAX_SMALL_FILE) throw new Error(`${MANIFEST} is larger than ${MAX_SMALL_FILE} bytes`);
    chunks.push(chunk);
  }
  const read = manifest.safeParse(parseJson(Buffer.concat(chunks).toString()));
  if (!read.success) throw new BackupError('has a manifest that this version of License Desk cannot read');
  return { found: read.data, bytes };
}

/**
 * Writes the file completely before it returns, unless `path` is null. @throws Error if the file does not match the
 * manifest
 */
async function unpack(entry: Chunks, part: Measured, path: string | null): Promise<void> {
  const hash = createHash('sha256');
  const file = path === null ? null : await open(path, 'wx', MODE);
  try {
    for await (const chunk of entry) {
      hash.update(chunk);
      await file?.writeFile(chunk);
    }
    await file?.sync();
  } finally {
    await file?.close();
  }
  if (hash.digest('hex') !== part.sha256) throw new Error(`the SHA-256 of ${part.name} does not match`);
}

/** Limits the archive's size; the limit is raised once the manifest is known. */
function limited(source: AsyncIterable<Uint8Array>) {
  let allowed = MAX_UNTIL_MANIFEST;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > allowed) throw new Error('the archive is larger than its manifest declares');
      yield chunk;
    }
  }
  return {
    chunks,
    allow(bytes: number) {
      allowed = bytes + MAX_PADDING;
    },
  };
}

/** @throws Error if it is not the file that the manifest lists */
function refuseOther({ name, type, size }: { name: string; type?: unknown; size?: number }, part?: Measured) {
  if (!part) throw new Error(`its manifest does not list ${JSON.stringify(name)}, or the file occurs twice`);
  if (type !== 'file') throw new Error(`${part.name} is not a regular file`);
  if (size !== part.bytes) throw new Error(`${part.name} has ${size} bytes instead of ${part.bytes}`);
}

/**
 * Once this returns, the whole archive has been checked, and authenticated if it is encrypted. If it throws, do not use
 * the unpacked files.
 * @throws BackupError if it is not a backup or is refused; Error if it is damaged or cannot be read or unpacked
 */
export async function readArchive(
  file: string,
  { passphrase, directory, accept }: ReadOptions,
): Promise<{ manifest: Manifest; authenticated: boolean }> {
  const { tar, authenticated } = await openArchive(file, passphrase);
  const source = limited(tar);
  const archive = extract();
  const feeding = pipeline(source.chunks, archive as unknown as NodeJS.WritableStream);
  // The loop below receives this error as well.
  feeding.catch(() => {});
  let found: Manifest | undefined;
  const awaited = new Map<string, Measured>();
  for await (const entry of archive) {
    const { header } = entry;
    const content = entry as unknown as Chunks;
    if (!found) {
      if (header.name !== MANIFEST) throw new BackupError('is not a License Desk backup');
      const read = await readManifest(content);
      ({ found } = read);
      await accept?.(found, authenticated);
      for (const part of found.parts) awaited.set(part.name, part);
      source.allow(tarSize([read.bytes, ...found.parts.map(({ bytes }) => bytes)]));
      continue;
    }
    const part = awaited.get(header.name);
    refuseOther(header, part);
    awaited.delete(header.name);
    await unpack(content, part as Measured, directory && join(directory, header.name));
  }
  await feeding;
  if (!found) throw new BackupError('is not a License Desk backup');
  if (awaited.size > 0) throw new Error(`${[...awaited.keys()].join(', ')} is missing`);
  return { manifest: found, authenticated };
}
