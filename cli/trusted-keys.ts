// Public keys for `verify`, from the command line.
import { existsSync } from 'node:fs';
import {
  parsePublicKeys,
  PublicKeyFormatError,
  type VerificationKey,
} from '../verifier/public-key-format.ts';
import { CommandFailure } from './command-failure.ts';
import { readTextFile } from './text-file.ts';

/**
 * Reads keys from a file, or from the text itself: base64 of a key, a PEM, or the JSON of `GET /public-key/`.
 * @throws CommandFailure
 */
export async function readTrustedKeys(given: string): Promise<VerificationKey[]> {
  const isPath = existsSync(given);
  const text = isPath ? await readTextFile(given) : given;
  try {
    return parsePublicKeys(text);
  } catch (error) {
    if (!(error instanceof PublicKeyFormatError)) throw error;
    const problem = isPath
      ? `${given} does not contain a public key`
      : '--public-key must be a public key or an existing file';
    throw new CommandFailure('invalid_request', `${problem}. ${error.message}`);
  }
}
