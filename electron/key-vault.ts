// Keeps the master key sealed: by the system's keychain, or under a passphrase where there is none.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeWhenFree, renameWhenFree } from '#server/platform/busy-files.ts';
import { syncDirectory, writeFileDurably } from '#server/platform/durable-file.ts';
import {
  decodeMasterKey,
  MASTER_KEY_FILE,
  newMasterKey,
  readMasterKeyFile,
  SEALED_KEY_FILE,
  writeMasterKeyFile,
} from '#server/platform/master-key.ts';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import { hasKeychain, isPubliclySealed, openByKeychain, sealByKeychain } from './keychain.ts';

const PURPOSE = 'desktop-master-key';

/** The content of the sealed file. */
interface SealedKey {
  sealed_by: 'keychain' | 'passphrase';
  /** Base64 of what the keychain made of the key, or the JSON that passphrase-seal.ts makes. */
  sealed: string;
}

/** The key cannot be opened. The message says why. */
export class KeyVaultError extends Error {
  override readonly name = 'KeyVaultError';
}

/** The data directory has lost what it had, such as with the disk that it is on. */
export class DataGoneError extends Error {
  override readonly name = 'DataGoneError';
}

export interface PassphrasePrompt {
  /**
   * @param options `isReplacement`: the key was sealed without protection before
   * @returns null to keep the key in a file
   * @throws KeyVaultError if the question was closed
   */
  choose(options: { isReplacement: boolean }): Promise<string | null>;
  /** Asks until `tryIt` accepts it. @throws KeyVaultError if the question was closed, and what `tryIt` throws */
  ask(tryIt: (passphrase: string) => Promise<boolean>): Promise<void>;
}

interface Needs {
  dataDir: string;
  /** From the environment: then nothing is kept here at all. */
  givenKey: string | undefined;
  /** Whether the directory may already have a database. A new key could not open it. */
  mayHoldData(): boolean;
  prompt: PassphrasePrompt;
  /** Where the administrator's choice to keep the key in a file is kept. */
  choicePath: string;
  /** The keychain has sealed a key that had no protection before. */
  onExposedKey(): void;
}

export interface KeyVault {
  /**
   * @returns the key in base64; null if the server reads the key itself
   * @throws KeyVaultError, DataGoneError, ConfigError
   */
  open(): Promise<string | null>;
  /** Puts the key into the file that a headless server reads. @returns its path; null where there is no key to write */
  writeKeyFile(): Promise<string | null>;
}

const sealInKeychain = async (key: Buffer): Promise<SealedKey> => ({
  sealed_by: 'keychain',
  sealed: await sealByKeychain(key.toString('base64')),
});

/** Loaded only where it is needed: the start does not wait for it. */
const passphraseSeal = () => import('#server/platform/passphrase-seal.ts');

async function sealByPassphrase(key: Buffer, passphrase: string): Promise<SealedKey> {
  const { sealUnderPassphrase } = await passphraseSeal();
  return { sealed_by: 'passphrase', sealed: await sealUnderPassphrase(PURPOSE, key, passphrase) };
}

export function createKeyVault(needs: Needs): KeyVault {
  const { dataDir, givenKey, mayHoldData, prompt, choicePath, onExposedKey } = needs;
  const sealedPath = join(dataDir, SEALED_KEY_FILE);
  const keyPath = join(dataDir, MASTER_KEY_FILE);
  /** A server that is started again must not ask for a passphrase again. */
  let opened: { content: string; key: Buffer } | null = null;
  /** Whether this directory has had a key since the app started. */
  let hadKey = false;

  function readSealed(): { content: string; sealed: SealedKey } | null {
    if (!existsSync(sealedPath)) return null;
    const content = readFileSync(sealedPath, 'utf8');
    try {
      const sealed = JSON.parse(content) as SealedKey;
      if (typeof sealed.sealed !== 'string') throw new Error('it has no key');
      return { content, sealed };
    } catch (error) {
      throw new KeyVaultError(`${sealedPath} is damaged: ${(error as Error).message}`);
    }
  }

  async function unsealByKeychain(sealed: string): Promise<{ key: Buffer; isOutdated: boolean }> {
    try {
      const { text, isOutdated } = await openByKeychain(sealed);
      return { key: decodeMasterKey(text, sealedPath), isOutdated };
    } catch (error) {
      throw new KeyVaultError(`the keychain cannot open ${sealedPath}: ${(error as Error).message}`);
    }
  }

  async function unsealByPassphrase(sealed: string): Promise<Buffer> {
    const { openUnderPassphrase, PassphraseError } = await passphraseSeal();
    let key: Buffer = Buffer.alloc(0);
    await prompt.ask(async (passphrase) => {
      try {
        key = await openUnderPassphrase(PURPOSE, sealed, passphrase);
        return true;
      } catch (error) {
        if (error instanceof PassphraseError && error.reason === 'wrong_passphrase') return false;
        throw new KeyVaultError(`cannot open ${sealedPath}: ${(error as Error).message}`);
      }
    });
    return key;
  }

  function writeSealed(sealed: SealedKey, key: Buffer): void {
    const content = `${JSON.stringify(sealed, null, 2)}\n`;
    writeFileDurably(sealedPath, content);
    opened = { content, key };
  }

  /** Nothing else is deleted until the keychain has opened what it sealed. */
  async function check(sealed: SealedKey, key: Buffer): Promise<void> {
    if (sealed.sealed_by === 'keychain' && !(await unsealByKeychain(sealed.sealed)).key.equals(key)) {
      throw new KeyVaultError('the keychain returned another key than it was given');
    }
  }

  async function keepSealed(sealed: SealedKey, key: Buffer): Promise<void> {
    await check(sealed, key);
    // It may be the key of a database that was moved away, as a restore does.
    if (existsSync(sealedPath)) renameWhenFree(sealedPath, `${sealedPath}.before-${Date.now()}`);
    writeSealed(sealed, key);
  }

  /** Keeps no copy: anyone can open what the constant sealed. */
  async function protect(key: Buffer): Promise<void> {
    const sealed = await seal(key, true);
    if (sealed) {
      await check(sealed, key);
      writeSealed(sealed, key);
      if (sealed.sealed_by === 'keychain') onExposedKey();
      return;
    }
    writeMasterKeyFile(dataDir, key);
    removeWhenFree(sealedPath);
    syncDirectory(dataDir);
  }

  async function openSealed(): Promise<Buffer | null> {
    const found = readSealed();
    if (!found) return null;
    if (opened?.content === found.content) return opened.key;
    const { sealed_by: by, sealed } = found.sealed;
    if (by === 'passphrase') {
      opened = { content: found.content, key: await unsealByPassphrase(sealed) };
      return opened.key;
    }
    const { key, isOutdated } = await unsealByKeychain(sealed);
    opened = { content: found.content, key };
    if (isPubliclySealed(sealed)) await protect(key);
    else if (isOutdated) writeSealed(await sealInKeychain(key), key);
    return key;
  }

  /** @returns null to leave it in a file */
  async function seal(key: Buffer, isReplacement = false): Promise<SealedKey | null> {
    if (await hasKeychain()) return sealInKeychain(key);
    if (readJsonFile(choicePath)['keep'] === 'file') return null;
    const passphrase = await prompt.choose({ isReplacement });
    if (passphrase !== null) return sealByPassphrase(key, passphrase);
    writeJsonFile(choicePath, { keep: 'file' });
    return null;
  }

  function removeKeyFile(): void {
    removeWhenFree(keyPath);
    syncDirectory(dataDir);
  }

  /** From a headless server, or put here by a restore: it is newer than the sealed key. */
  async function adopt(key: Buffer): Promise<Buffer> {
    // It may be the same key again, copied here while the app runs.
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
    // A new installation would take the place of the one that clients know.
    if (hadKey) {
      const advice = 'Mount its disk or put the files back, then try again.';
      throw new DataGoneError(`${dataDir} has lost its master key and its database. ${advice}`);
    }
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
      hadKey ||= key !== null;
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
