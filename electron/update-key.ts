// The public key that updates must be signed with, pinned in the package.json of the packaged app by `npm run package`.
import { join } from 'node:path';
import { app } from 'electron';
import { readJsonFile } from './json-file.ts';

/** 32 bytes, base64; null in a build without one, which announces updates and never downloads them. */
export function pinnedUpdateKey(): string | null {
  const { updatePublicKey } = readJsonFile(join(app.getAppPath(), 'package.json'));
  return typeof updatePublicKey === 'string' ? updatePublicKey : null;
}
