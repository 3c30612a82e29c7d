// Refuses to use keys that other users of the machine can read or replace.
import { statSync, type Stats } from 'node:fs';
import { join, relative } from 'node:path';
import { DataDirectoryError } from './data-directory.ts';
import { databaseFile } from './database-location.ts';
import { isUsed } from './used-directory.ts';
import { type Config, configFilePath, readConfigFile } from '#server/platform/config.ts';
import { holdsPassword } from '#server/platform/mask-passwords.ts';
import { MASTER_KEY_FILE, SEALED_KEY_FILE } from '#server/platform/master-key.ts';

type Settings = Pick<Config, 'dataDir' | 'tls'>;

interface Exposure {
  path: string;
  mode: string;
  /** What `chmod` has to remove. */
  clause: 'go=' | 'o=' | 'o=,g-w' | 'g-w';
  isOurs: boolean;
}

const OTHERS = 0o007;
const GROUP = 0o070;
const GROUP_WRITE = 0o020;
const SETGID = 0o2000;

/** @returns undefined if the path does not exist */
function look(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function exposure(path: string, { mode, uid }: Stats, clause: Exposure['clause']): Exposure {
  const shown = (mode & 0o7777).toString(8).padStart(4, '0');
  return { path, mode: shown, clause, isOurs: [0, uid].includes(process.getuid?.() ?? -1) };
}

/**
 * Group access can be intentional: to list and read (0750, as with systemd and PostgreSQL), or with the setgid bit,
 * which a Kubernetes
 * `fsGroup` sets on a volume.
 */
function exposedDirectory(path: string, stats: Stats): Exposure[] {
  const toOthers = (stats.mode & OTHERS) !== 0;
  const toGroup = (stats.mode & GROUP_WRITE) !== 0 && (stats.mode & SETGID) === 0;
  if (!toOthers && !toGroup) return [];
  if (!toGroup) return [exposure(path, stats, 'o=')];
  return [exposure(path, stats, toOthers ? 'o=,g-w' : 'g-w')];
}

/** Accessible to its owner only, or to the group of a directory shared by setgid. */
function exposedFile(path: string, directory: Stats): Exposure[] {
  const stats = look(path);
  if (stats === undefined || !stats.isFile()) return [];
  const isShared = (directory.mode & SETGID) !== 0 && stats.gid === directory.gid;
  const closedTo = isShared ? OTHERS : OTHERS | GROUP;
  return (stats.mode & closedTo) === 0 ? [] : [exposure(path, stats, isShared ? 'o=' : 'go=')];
}

/** Not if the file cannot be read, which stops the start anyway. */
function holdsDatabasePassword(dataDir: string): boolean {
  try {
    return Object.values(readConfigFile(dataDir)).some((value) => holdsPassword(String(value)));
  } catch {
    return false;
  }
}

function secretFiles({ dataDir, tls }: Settings): string[] {
  const database = databaseFile(dataDir);
  const isInside = (path: string) => !relative(dataDir, path).startsWith('..');
  return [
    join(dataDir, MASTER_KEY_FILE),
    join(dataDir, SEALED_KEY_FILE),
    join(dataDir, 'tls', 'server.json'),
    join(dataDir, 'sessions.json'),
    database,
    `${database}-wal`,
    `${database}-shm`,
    ...(holdsDatabasePassword(dataDir) ? [configFilePath(dataDir)] : []),
    ...(tls.mode === 'files' && isInside(tls.key) ? [tls.key] : []),
  ];
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/u.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** `chmod o= /data && chmod go= /data/master.key /data/license-desk.db` */
function remedy(exposures: readonly Exposure[]): string {
  const byClause = Map.groupBy(exposures, ({ clause }) => clause);
  return [...byClause]
    .map(([clause, files]) => `chmod ${clause} ${files.map(({ path }) => quoted(path)).join(' ')}`)
    .join(' && ');
}

/**
 * What other users could read or replace, and the command that fixes it; null if nothing. Always null on Windows: a
 * user's folder is private there by default, and the start does not wait for PowerShell to say so.
 */
export function exposedFiles(settings: Settings): string | null {
  const directory = look(settings.dataDir);
  if (process.platform === 'win32' || !directory) return null;
  const exposures = [
    ...exposedDirectory(settings.dataDir, directory),
    ...secretFiles(settings).flatMap((path) => exposedFile(path, directory)),
  ];
  if (exposures.length === 0) return null;
  const found = exposures.map(({ path, mode }) => `${path} (mode ${mode})`).join(', ');
  // In a container, a volume may belong to root, who is a different user there.
  const below = `a new directory below it, such as --data-dir ${quoted(join(settings.dataDir, 'license-desk'))}`;
  const asOwner = exposures.every(({ isOurs }) => isOurs)
    ? ''
    : ` as its owner, or ${isUsed(settings.dataDir) ? 'move all files to' : 'choose'} ${below}`;
  return `other users can read or change ${found}; run: ${remedy(exposures)}${asOwner}`;
}

/** As `exposedFiles`, also on Windows. @throws if Windows does not tell who has access */
export async function exposedOnAnyPlatform(settings: Settings): Promise<string | null> {
  if (process.platform !== 'win32') return exposedFiles(settings);
  const { exposedOnWindows } = await import('./windows-access.ts');
  return exposedOnWindows(settings.dataDir);
}

/** @throws DataDirectoryError */
export function refuseExposedFiles(settings: Settings): void {
  const problem = exposedFiles(settings);
  if (problem !== null) throw new DataDirectoryError(problem);
}
