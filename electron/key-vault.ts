// Keeps the master key sealed: by the system's keychain, or under a passphrase where there is none that deserves the name.
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { safeStorage } from 'electron';
import { syncDirectory, writeFileDurably } from '../server/platform/durable-file.ts';
import {
  decodeMasterKey,
  MASTER_KEY_FILE,
  newMasterKey,
  readMasterKeyFile,
  SEALED_KEY_FILE,
  writeMasterKeyFile,
} from '../server/platform/master-key.ts';
import { readJsonFile, writeJsonFile } from './json-file.ts';

const PURPOSE = 'desktop-master-key';

/** The content of the sealed file. */
interface SealedKey {
  sealed_by: 'keychain' | 'passphrase';
  /** Base64 of what the keychain made of it; or the JSON that passphrase-seal.ts makes. */
  sealed: string;
}

/** The key cannot be had; the message says why. */
export class KeyVaultError extends Error {
  override readonly name = 'KeyVaultError';
}

export interface PassphraseDesk {
  /** @returns null to keep the key in a file @throws KeyVaultError if nobody says */
  choose(): Promise<string | null>;
  /** Asks until `tryIt` says that it is the one. @throws KeyVaultError if nobody says, and what `tryIt` throws */
  ask(tryIt: (passphrase: string) => Promise<boolean>): Promise<void>;
}

interface Needs {
  dataDir: string;
  /** From the environment: then nothing is kept here at all. */
  givenKey: string | undefined;
  /** Whether the directory may have a database already, whose key a new one would not be. */
  mayHoldData(): boolean;
  desk: PassphraseDesk;
  /** Where it is kept that the administrator wants the key in a file. */
  choicePath: string;
}

export interface KeyVault {
  /** @returns the key in base64; null where the server looks after it. @throws KeyVaultError, ConfigError */
  open(): Promise<string | null>;
  /** Puts the key into the file that a headless server reads. @returns its path; null where there is no key to write */
  writeKeyFile(): Promise<string | null>;
}

/** Linux without a keyring service has only a password that is the same everywhere. */
async function hasKeychain(): Promise<boolean> {
  if (!(await safeStorage.isAsyncEncryptionAvailable())) return false;
  return process.platform !== 'linux' || safeStorage.getSelectedStorageBackend() !== 'basic_text';
}

async function sealByKeychain(key: Buffer): Promise<SealedKey> {
  const sealed = await safeStorage.encryptStringAsync(key.toString('base64'));
  return { sealed_by: 'keychain', sealed: sealed.toString('base64') };
}

/** Loaded only where it is needed: the start does not wait for it. */
const passphraseSeal = () => import('../server/platform/passphrase-seal.ts');

async function sealByPassphrase(key: Buffer, passphrase: string): Promise<SealedKey> {
  const { sealUnderPassphrase } = await passphraseSeal();
  return { sealed_by: 'passphrase', sealed: await sealUnderPassphrase(PURPOSE, key, passphrase) };
}

export function createKeyVault({ dataDir, givenKey, mayHoldData, desk, choicePath }: Needs): KeyVault {
  const sealedPath = join(dataDir, SEALED_KEY_FILE);
  const keyPath = join(dataDir, MASTER_KEY_FILE);
  /** Kept, so that a server that is started again does not ask for a passphrase again. */
  let opened: { content: string; key: Buffer } | null = null;

  function readSealed(): { content: string; sealed: SealedKey } | null {
    if (!existsSync(sealedPath)) return null;
    const content = readFileSync(sealedPath, 'utf8');
    try {
      const sealed = JSON.parse(content) as SealedKey;
      if (typeof sealed.sealed !== 'string') throw new Error('no key in it');
      return { content, sealed };
    } catch (error) {
      throw new KeyVaultError(`${sealedPath} is damaged: ${(error as Error).message}`);
    }
  }

  async function openByKeychain(sealed: string): Promise<Buffer> {
    try {
      const { result } = await safeStorage.decryptStringAsync(Buffer.from(sealed, 'base64'));
      return decodeMasterKey(result, sealedPath);
    } catch (error) {
      throw new KeyVaultError(
        `the keychain of this computer does not open ${sealedPath}: ${(error as Error).message}`,
      );
    }
  }

  async function openByPassphrase(sealed: string): Promise<Buffer> {
    const { openUnderPassphrase, PassphraseError } = await passphraseSeal();
    let key: Buffer = Buffer.alloc(0);
    await desk.ask(async (passphrase) => {
      try {
        key = await openUnderPassphrase(PURPOSE, sealed, passphrase);
        return true;
      } catch (error) {
        if (error instanceof PassphraseError && error.reason === 'wrong_passphrase') return false;
        throw new KeyVaultError(`${sealedPath} cannot be opened: ${(error as Error).message}`);
      }
    });
    return key;
  }

  async function openSealed(): Promise<Buffer | null> {
    const found = readSealed();
    if (!found) return null;
    if (opened?.content === found.content) return opened.key;
    const { sealed_by: by, sealed } = found.sealed;
    const key = by === 'passphrase' ? await openByPassphrase(sealed) : await openByKeychain(sealed);
    opened = { content: found.content, key };
    return key;
  }

  /** @returns null to leave it in a file */
  async function seal(key: Buffer): Promise<SealedKey | null> {
    if (await hasKeychain()) return sealByKeychain(key);
    if (readJsonFile(choicePath)['keep'] === 'file') return null;
    const passphrase = await desk.choose();
    if (passphrase !== null) return sealByPassphrase(key, passphrase);
    writeJsonFile(choicePath, { keep: 'file' });
    return null;
  }

  /** What has been written opens again before anything else may be given up. */
  async function keepSealed(sealed: SealedKey, key: Buffer): Promise<void> {
    if (sealed.sealed_by === 'keychain' && !(await openByKeychain(sealed.sealed)).equals(key)) {
      throw new KeyVaultError('the keychain of this computer does not give back what it is given');
    }
    // It may be the key of a database that was moved away, as a restore does.
    if (existsSync(sealedPath)) renameSync(sealedPath, `${sealedPath}.before-${Date.now()}`);
    const content = `${JSON.stringify(sealed, null, 2)}\n`;
    writeFileDurably(sealedPath, content);
    opened = { content, key };
  }

  function removeKeyFile(): void {
    rmSync(keyPath, { force: true });
    syncDirectory(dataDir);
  }

  /** Of a headless server, or put here by a restore: it is the newer truth. */
  async function adopt(key: Buffer): Promise<Buffer> {
    // Somebody put it there again while the app runs.
    const isSealedAlready = opened?.key.equals(key) ?? false;
    if (!isSealedAlready) {
      const sealed = await seal(key);
      if (!sealed) return key;
      await keepSealed(sealed, key);
    }
    removeKeyFile();
    return key;
  }

  async function create(): Promise<Buffer | null> {
    const key = newMasterKey();
    const sealed = await seal(key);
    if (!sealed) return null;
    await keepSealed(sealed, key);
    return key;
  }

  return {
    async open() {
      if (givenKey) return null;
      const plain = readMasterKeyFile(dataDir);
      const isNew = !existsSync(sealedPath) && !mayHoldData();
      const key = plain ? await adopt(plain) : isNew ? await create() : await openSealed();
      return key?.toString('base64') ?? null;
    },
    async writeKeyFile() {
      if (givenKey) return null;
      const key = readMasterKeyFile(dataDir) ?? (await openSealed());
      if (!key) return null;
      writeMasterKeyFile(dataDir, key);
      return keyPath;
    },
  };
}
