// What the plan of a service depends on, read from the computer. Changes nothing.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { homeDirectory, userNameOf } from '#server/platform/os-user.ts';
import type { HostFacts, ServiceDefinition, ServicePlatform } from './service-definition.ts';

/** macOS keeps these numbers for accounts of services. */
const ACCOUNT_IDS = { from: 300, to: 399 };

function output(command: string, ...words: string[]): string | null {
  try {
    return execFileSync(command, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return null;
  }
}

function isPrivileged(): boolean {
  // Only an elevated prompt may list sessions.
  if (process.platform === 'win32') return output('net', 'session') !== null;
  return process.geteuid?.() === 0;
}

function userName(): string {
  const { USERDOMAIN, USERNAME } = process.env;
  if (process.platform === 'win32' && USERDOMAIN && USERNAME) return `${USERDOMAIN}\\${USERNAME}`;
  return userInfo().username;
}

/** @returns null if there is no such file or directory */
function ownerOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return null;
  if (process.platform === 'win32') return 'its owner';
  return userNameOf(stats.uid) ?? String(stats.uid);
}

function freeAccountId(): number {
  if (process.platform !== 'darwin') return 0;
  const lists = ['/Users UniqueID', '/Groups PrimaryGroupID'].map((list) => list.split(' '));
  const taken = lists.flatMap((words) => output('dscl', '.', '-list', ...words)?.match(/-?\d+$/gmu) ?? []);
  for (let id = ACCOUNT_IDS.from; id < ACCOUNT_IDS.to; id += 1) if (!taken.includes(String(id))) return id;
  return ACCOUNT_IDS.to;
}

/** A file in UTF-16 starts with its byte order mark. */
function readDefinition(path: string): string | null {
  try {
    const bytes = readFileSync(path);
    const isWide = bytes.readUInt16LE(0) === 0xfeff;
    return isWide ? bytes.subarray(2).toString('utf16le') : bytes.toString();
  } catch {
    return null;
  }
}

/** @param definition where the definition of the service would be */
export function readHostFacts(
  platform: ServicePlatform,
  { name, dataDir }: Pick<ServiceDefinition, 'name' | 'dataDir'>,
  definition: string,
): HostFacts {
  const backups = platform.backupFolder(name);
  return {
    user: { name: userName(), id: process.getuid?.() ?? 0, home: homeDirectory() ?? '' },
    isPrivileged: isPrivileged(),
    isSudo: Boolean(process.env['SUDO_USER']),
    dataDirOwner: ownerOf(dataDir),
    hasServiceAccount: process.platform !== 'win32' && output('id', '-u', platform.account) !== null,
    hasBackupFolder: backups !== null && existsSync(backups),
    freeAccountId: freeAccountId(),
    installed: readDefinition(definition),
  };
}
