// `safeStorage`: what Chromium's asynchronous encryptor writes says which key it used, and it is made once.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { keychain, keychainLock, platform } from './environment.ts';
import { isReady } from './lifecycle.ts';
import { strictEmitter } from './strict.ts';

/** `v10` on Linux: a key that is the same in every Chromium. Elsewhere: the system's. */
type Version = 'v10' | 'v11';

interface Encryptor {
  version: Version;
  isLocked: boolean;
}

const KEYS: Readonly<Record<Version, number>> = { v10: 0x2f, v11: 0x5a };
const hasSecretService = keychain !== 'no-keyring' && keychain !== 'basic_text';
const isKnownDesktop = keychain !== 'unknown-desktop' && keychain !== 'basic_text';

let encryptor: Encryptor | undefined;

/** Made with the first use and kept, whatever is unlocked later. */
function ownEncryptor(): Encryptor {
  if (!isReady()) throw new Error('safeStorage cannot be used before app is ready');
  encryptor ??= {
    version: platform === 'linux' && hasSecretService ? 'v11' : 'v10',
    isLocked: keychain === 'locked' || (keychainLock !== undefined && existsSync(keychainLock)),
  };
  return encryptor;
}

/** Not in clear, so that a test sees whether the key itself is on the disk. */
const scramble = (bytes: Buffer, version: Version) => Buffer.from(bytes.map((byte) => byte ^ KEYS[version]));

/** No two results are equal. */
const NONCE_BYTES = 4;

const FAILED = 'Error while decrypting the ciphertext provided to safeStorage.decryptStringAsync.';

export const safeStorage = strictEmitter<Electron.SafeStorage>('safeStorage', {
  // True for every app that is ready; it says nothing about a keyring.
  isAsyncEncryptionAvailable: async () => isReady(),
  async encryptStringAsync(text) {
    const { version } = ownEncryptor();
    return Buffer.concat([
      Buffer.from(version),
      randomBytes(NONCE_BYTES),
      scramble(Buffer.from(text), version),
    ]);
  },
  async decryptStringAsync(encrypted) {
    const { version: current, isLocked } = ownEncryptor();
    const version = encrypted.subarray(0, 3).toString() as Version;
    if (isLocked || !(version in KEYS)) throw new Error(FAILED);
    const result = scramble(encrypted.subarray(3 + NONCE_BYTES), version).toString();
    return { result, shouldReEncrypt: keychain === 'rotated' || version !== current };
  },
  // By the name of the desktop.
  ...(platform === 'linux' && {
    getSelectedStorageBackend: () => (isKnownDesktop ? 'gnome_libsecret' : 'basic_text'),
  }),
} satisfies Partial<Electron.SafeStorage>);
