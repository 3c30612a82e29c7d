// The system's keychain, as far as Chromium's asynchronous encryptor reaches it.
import { safeStorage } from 'electron';

/**
 * On Linux, Chromium marks with this what it encrypted without a keyring: with a password that is a constant in its
 * source. macOS and Windows use the same mark for their own keychains.
 */
const PUBLIC_MARK = 'v10';
const PROBE = 'probe';

const isPublic = (encrypted: Buffer): boolean =>
  process.platform === 'linux' && encrypted.subarray(0, PUBLIC_MARK.length).toString() === PUBLIC_MARK;

/**
 * Whether a key sealed by it is protected. Only the encryptor's output tells that: the names of backends follow the
 * name of the desktop, and encryption is always available.
 */
export async function hasKeychain(): Promise<boolean> {
  if (!(await safeStorage.isAsyncEncryptionAvailable())) return false;
  return process.platform !== 'linux' || !isPublic(await safeStorage.encryptStringAsync(PROBE));
}

/** @param sealed as `sealByKeychain` returned it */
export const isPubliclySealed = (sealed: string): boolean => isPublic(Buffer.from(sealed, 'base64'));

/** @returns base64 */
export async function sealByKeychain(text: string): Promise<string> {
  return (await safeStorage.encryptStringAsync(text)).toString('base64');
}

/** @returns `isOutdated`: the keychain has a newer key, and the text should be sealed again */
export async function openByKeychain(sealed: string): Promise<{ text: string; isOutdated: boolean }> {
  const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(Buffer.from(sealed, 'base64'));
  return { text: result, isOutdated: shouldReEncrypt };
}
