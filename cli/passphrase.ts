import { readTextFile } from './text-file.ts';

/** @param file null is returned if there is none; the line's end belongs to the file, not to the passphrase */
export async function readPassphrase(file: string | undefined): Promise<string | null> {
  return file === undefined ? null : (await readTextFile(file)).replace(/\r?\n$/u, '');
}
