// The app as the installers would hold it, without Electron, and the server's own package made of it.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { extractFile, listPackage, statFile } from '@electron/asar';
import { generateKeyPairSync } from 'node:crypto';
import { assembleServer, packWithoutElectron } from '../../scripts/server-package.mjs';
import { pinnedKeyArguments, updateKey } from '../../scripts/sign-update.mjs';
import { temporaryDirectory } from '../helpers/server-process.ts';

export const project = resolve(import.meta.dirname, '../..');

const FUSE_SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
/** In the order of the binary, after its version and their count. */
const FUSES = [
  'runAsNode',
  'cookieEncryption',
  'nodeOptions',
  'nodeCliInspect',
  'embeddedAsarIntegrityValidation',
  'onlyLoadAppFromAsar',
  'loadBrowserProcessSpecificV8Snapshot',
  'grantFileProtocolExtraPrivileges',
] as const;

export interface PackedApp {
  /** What becomes the app's folder. */
  folder: string;
  archive: string;
  /** What the updates of this build are signed for. */
  updatePublicKey: string;
  /** The server's package, unpacked. */
  server: string;
  /** Every file in the archive, `out/main/main.js`. */
  files: string[];
  read(file: string): string;
  /** Those that are beside the archive. */
  unpacked(): string[];
  fuses(): Record<(typeof FUSES)[number], boolean>;
}

export async function packApp(): Promise<PackedApp> {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
  const key = updateKey({ LICENSE_DESK_UPDATE_KEY: pem.toString() });
  const folder = await packWithoutElectron(temporaryDirectory('packed'), pinnedKeyArguments(key));
  const archive = join(folder, 'resources', 'app.asar');
  const server = temporaryDirectory('license-desk-server');
  await assembleServer(folder, server);
  const entries = listPackage(archive, { isPack: false }).map((path) => path.slice(1));
  const files = entries.filter((path) => !('files' in statFile(archive, path)));
  return {
    folder,
    archive,
    server,
    updatePublicKey: key?.publicKey ?? '',
    files,
    read: (file) => extractFile(archive, file).toString(),
    unpacked: () =>
      files.filter((file) => {
        const stat = statFile(archive, file);
        return 'unpacked' in stat && stat.unpacked;
      }),
    fuses() {
      const binary = readFileSync(join(folder, 'license-desk'), 'latin1');
      const at = binary.indexOf(FUSE_SENTINEL) + FUSE_SENTINEL.length + 2;
      const states = FUSES.map((name, index) => [name, binary[at + index] === '1'] as const);
      return Object.fromEntries(states) as ReturnType<PackedApp['fuses']>;
    },
  };
}
