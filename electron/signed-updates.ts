// Updates through electron-updater, restricted to what the publisher signed: the manifest's signature is checked before
// anything is downloaded, and the download's hash against that manifest before anything can be installed.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { AppUpdater, UpdateInfo } from 'electron-updater';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import { checkManifestSignature, UpdateRefusedError } from './update-signature.ts';

/** What `setFeedURL` takes; its own type leaves the custom provider's options out. */
type CustomFeed = Exclude<Parameters<AppUpdater['setFeedURL']>[0], string>;

export interface UpdateSource {
  /** The https address of `latest*.yml`. */
  address: string;
  /** The publisher's public key: 32 bytes, base64. Null: nothing can be verified, so nothing is downloaded. */
  publicKey: string | null;
  /** The file that remembers the newest manifest seen. */
  historyFile: string;
}

export interface FoundUpdate {
  version: string;
  /**
   * Downloads the update and lets electron-updater install it when the app quits; null if it cannot be verified.
   * @throws UpdateRefusedError if it is not what the manifest promises
   */
  download: (() => Promise<void>) | null;
}

/** @throws UpdateRefusedError */
function requireHttps(address: string | URL): void {
  if (new URL(address).protocol !== 'https:')
    throw new UpdateRefusedError(`Updates are downloaded over https only (got ${String(address)}).`);
}

/**
 * Refuses a manifest that is older than one seen before. An old manifest has a valid signature, too, and may name a
 * vulnerable version that is still newer than the installed one.
 */
function refuseReplay({ version, releaseDate }: UpdateInfo, historyFile: string): void {
  const released = new Date(releaseDate).getTime();
  if (Number.isNaN(released))
    throw new UpdateRefusedError('The update manifest does not say when it was made.');
  const { newest } = readJsonFile(historyFile);
  const seen = typeof newest === 'string' ? new Date(newest).getTime() : Number.NEGATIVE_INFINITY;
  if (released < seen) {
    const [made, latest] = [new Date(released).toISOString(), new Date(seen).toISOString()];
    throw new UpdateRefusedError(
      `The update manifest of version ${version} was made at ${made}, before the newest one seen (${latest}).`,
    );
  }
  if (released > seen) writeJsonFile(historyFile, { newest: new Date(released).toISOString() });
}

/** electron-updater's generic provider, which fetches and parses the manifest, with a check of what it fetched. */
async function signedProvider({ publicKey, historyFile }: UpdateSource) {
  const { GenericProvider } = (await import('electron-updater/out/providers/GenericProvider.js')).default;

  return class SignedProvider extends GenericProvider {
    protected override async httpRequest(url: URL): Promise<string | null> {
      const manifest = await super.httpRequest(url);
      if (publicKey === null || manifest === null) return manifest;
      const beside = new URL(url);
      beside.pathname += '.sig';
      const signature = await super.httpRequest(beside).catch((error: { statusCode?: number }) => {
        if (error.statusCode === 404) return null;
        throw error;
      });
      checkManifestSignature(manifest, signature, publicKey);
      return manifest;
    }

    override async getLatestVersion(): Promise<UpdateInfo> {
      const info = await super.getLatestVersion();
      if (publicKey !== null) refuseReplay(info, historyFile);
      return info;
    }

    override resolveFiles(info: UpdateInfo) {
      const files = super.resolveFiles(info);
      for (const { url } of files) requireHttps(url);
      return files;
    }
  };
}

/** @throws UpdateRefusedError unless each file has a hash that the manifest names */
async function checkFiles(paths: readonly string[], { files }: UpdateInfo): Promise<void> {
  const promised = new Set(files.map(({ sha512 }) => sha512));
  for (const path of paths) {
    const hash = createHash('sha512');
    await pipeline(createReadStream(path), hash);
    if (!promised.has(hash.digest('base64')))
      throw new UpdateRefusedError('The downloaded update is not the one that the manifest names.');
  }
}

/**
 * Looks for an update.
 *
 * @returns null if there is none
 * @throws UpdateRefusedError if the address is not https, or the manifest is unsigned, forged or replayed
 */
export async function findUpdate(updater: AppUpdater, source: UpdateSource): Promise<FoundUpdate | null> {
  requireHttps(source.address);
  updater.autoDownload = false;
  updater.allowDowngrade = false;
  const updateProvider = await signedProvider(source);
  updater.setFeedURL({ provider: 'custom', updateProvider, url: source.address } as CustomFeed);
  const found = await updater.checkForUpdates();
  if (!found?.isUpdateAvailable) return null;
  const { updateInfo } = found;

  async function download(): Promise<void> {
    // electron-updater takes this into account once it has compared the file with the verified manifest, not before.
    updater.autoInstallOnAppQuit = true;
    try {
      await checkFiles(await updater.downloadUpdate(), updateInfo);
    } catch (error) {
      updater.autoInstallOnAppQuit = false;
      throw error;
    }
  }
  return { version: updateInfo.version, download: source.publicKey === null ? null : download };
}
