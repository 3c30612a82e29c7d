import { readTextFile } from './text-file.ts';

/** The passphrase without the final line break. @returns null if no file is given */
export async function readPassphrase(file: string | undefined): Promise<string | null> {
  return file === undefined ? null : (await readTextFile(file)).replace(/\r?\n$/u, '');
}
