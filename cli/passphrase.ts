import { NOT_UTF8, passphraseIn } from '#server/platform/passphrase-file.ts';
import { CommandFailure } from './command-failure.ts';
import { readBytes } from './text-file.ts';

/** @returns null if no file is given @throws CommandFailure */
export async function readPassphrase(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  const passphrase = passphraseIn(await readBytes(file));
  if (passphrase === null) throw new CommandFailure('invalid_request', `cannot use ${file}: ${NOT_UTF8}`);
  return passphrase;
}
