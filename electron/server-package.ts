// The server's package on this computer, whose command line installs the service. The app itself cannot run as one.
import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const isWindows = process.platform === 'win32';
const NODE = isWindows ? 'node.exe' : 'node';
const PROGRAM = join('out', 'main', 'cli.js');

const USUAL_FOLDERS = isWindows
  ? [join(process.env['PROGRAMFILES'] ?? String.raw`C:\Program Files`, 'License Desk Server')]
  : ['/usr/lib/license-desk-server', '/opt/license-desk-server', '/usr/local/lib/license-desk-server'];

/** A link on PATH leads to the package, as does what `apt` installs. */
function foldersOnPath(): string[] {
  const launcher = isWindows ? 'license-desk.cmd' : 'license-desk';
  const files = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  return files
    .map((folder) => join(folder, launcher))
    .filter((file) => existsSync(file))
    .map((file) => dirname(realpathSync(file)));
}

/** @returns the folder of the package; null if it is not installed */
export function findServerPackage(): string | null {
  const folders = [...foldersOnPath(), ...USUAL_FOLDERS];
  return folders.find((folder) => [NODE, PROGRAM].every((file) => existsSync(join(folder, file)))) ?? null;
}

/** @throws with the reason, as the command line gives it */
export async function installService(folder: string, dataDir: string): Promise<void> {
  const words = [join(folder, PROGRAM), 'service', 'install', '--user', '--data-dir', dataDir];
  try {
    await promisify(execFile)(join(folder, NODE), words, { windowsHide: true });
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    throw new Error(stderr.trim().replace(/^error: /u, '') || message, { cause: error });
  }
}
