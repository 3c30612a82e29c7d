// stdout that is a file. Node's own stream loses, without an error, what a full disk does not take of a text
// (node:internal/fs/sync_write_stream).
import { fstatSync, writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';

/** @returns null unless it is a regular file */
export function fileOutput(descriptor: number): Writable | null {
  if (!isFile(descriptor)) return null;
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        writeFileSync(descriptor, chunk);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
  // Without a listener, an error would end the process. The call that writes reports it.
  return stream.on('error', () => {});
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // Windows has no status of some pipes.
    return false;
  }
}
