// The folder of the daily backups and the file with their passphrase: what the settings allow, and whether both can be
// used now.
import { constants, existsSync, realpathSync } from 'node:fs';
import { access, open, readFile, stat, unlink } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join, relative, sep, isAbsolute } from 'node:path';
import { ConfigError, type SettingValues } from './config.ts';
import { nearestPath } from './nearest-path.ts';
import { NOT_UTF8, passphraseIn } from './passphrase-file.ts';
import { pathRule, RuleError } from './rule-error.ts';
import { SETTINGS } from './settings.ts';
import type { NamedRule } from '#server/wire/field-rules.ts';
import { MAX_PASSPHRASE, MIN_PASSPHRASE } from '#server/wire/passphrase-length.ts';

export type BackupSettings = Pick<
  SettingValues,
  'dataDir' | 'backupSchedule' | 'backupHour' | 'backupFolder' | 'backupKeep' | 'backupPassphraseFile'
>;

/** The path without symbolic links, as far as it exists. */
function realPath(path: string): string {
  const there = nearestPath(path);
  // A drive that is not connected has no path that exists.
  return join(existsSync(there) ? realpathSync(there) : there, relative(there, path));
}

/** Whether the path is the folder or in it. */
function isWithin(folder: string, path: string): boolean {
  const way = relative(realPath(folder), realPath(path));
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function mustBe(setting: { flag: string }, value: string, requirement: string, rule: NamedRule): ConfigError {
  return new ConfigError(`--${setting.flag} is ${JSON.stringify(value)}, but must be ${requirement}`, {
    rule,
  });
}

/** Checks what does not depend on the state of the disk, so that a lost disk does not keep the server from starting. @throws ConfigError */
export function requireBackupSettings(values: BackupSettings): void {
  const { backupSchedule, backupFolder: folder, backupPassphraseFile: secret, dataDir } = values;
  if (folder !== null && isWithin(dataDir, folder))
    throw mustBe(
      SETTINGS.backupFolder,
      folder,
      `outside of the data directory ${dataDir}, which a failed disk would take along; use a folder on another disk`,
      { reason: 'in_data_directory', values: { path: dataDir } },
    );
  if (folder !== null && secret !== null && isWithin(folder, secret))
    throw mustBe(
      SETTINGS.backupPassphraseFile,
      secret,
      `outside of the backup folder ${folder}: a copy of the folder would include the means to read the backups`,
      { reason: 'passphrase_in_backup_folder', values: { path: folder } },
    );
  if (backupSchedule !== 'daily') return;
  if (folder === null)
    throw new ConfigError(
      `--${SETTINGS.backupSchedule.flag} is "daily", but --${SETTINGS.backupFolder.flag} is not set; set it to a folder on another disk`,
      { rule: { reason: 'backup_folder_required' } },
    );
}

/** Why the folder cannot be used. The page has a text for each. */
export type FolderProblem = 'folder_missing' | 'folder_not_writable' | 'passphrase_file';

/** The message is one line for the administrator. */
export class BackupFolderError extends RuleError {
  override readonly name = 'BackupFolderError';
  readonly problem: FolderProblem;

  constructor(problem: FolderProblem, message: string, rule: NamedRule | undefined) {
    super(message, rule);
    this.problem = problem;
  }
}

function notWritable(folder: string, error: unknown): BackupFolderError {
  const { code, message } = error as NodeJS.ErrnoException;
  const refuse = (why: string, rule: NamedRule | undefined) =>
    new BackupFolderError('folder_not_writable', `the backup folder ${folder} is not writable: ${why}`, rule);
  if (code !== 'EROFS') return refuse(message, pathRule(error, folder));
  const values = { path: folder };
  // A unit with `ProtectSystem=strict` shows its service a read-only file system, except for what it names.
  if (!process.env['NOTIFY_SOCKET']) return refuse(message, { reason: 'read_only_folder', values });
  const remedy =
    'if its disk is writable, create the folder for the user of the service, add [Service] and ' +
    `ReadWritePaths=-${folder} with \`systemctl edit license-desk\`, and restart the service`;
  return refuse(`${message}; ${remedy}`, { reason: 'read_only_for_service', values });
}

const writable = (path: string): Promise<void> => access(path, constants.W_OK | constants.X_OK);

/**
 * @param mayCreate whether a missing folder is fine if it can be created
 * @throws BackupFolderError
 */
export async function requireBackupFolder(folder: string, mayCreate: boolean): Promise<void> {
  const found = nearestPath(folder);
  if (found !== folder && !mayCreate)
    throw new BackupFolderError(
      'folder_missing',
      `the backup folder ${folder} is missing; check that its disk is connected, or create the folder`,
      { reason: 'path_missing', values: { path: folder } },
    );
  try {
    if (!(await stat(found)).isDirectory())
      throw new RuleError(`${found} is not a folder`, { reason: 'not_a_folder', values: { path: found } });
    await writable(found);
  } catch (error) {
    throw notWritable(folder, error);
  }
}

/** Writes a file and removes it again: permissions alone do not show whether a network drive accepts files. @throws BackupFolderError */
export async function tryBackupFolder(folder: string): Promise<void> {
  await requireBackupFolder(folder, true);
  if (!existsSync(folder)) return;
  const trial = join(folder, `.license-desk-trial-${randomUUID()}`);
  try {
    await (await open(trial, 'wx', 0o600)).close();
    await unlink(trial);
  } catch (error) {
    throw notWritable(folder, error);
  }
}

/** @returns null if no file is set @throws BackupFolderError */
export async function readBackupPassphrase(file: string | null): Promise<string | null> {
  if (file === null) return null;
  const refuse = (why: string, rule: NamedRule | undefined) =>
    new BackupFolderError('passphrase_file', `the passphrase file ${file} cannot be used: ${why}`, rule);
  const bytes = await readFile(file).catch((error: Error) => {
    throw refuse(error.message, pathRule(error, file));
  });
  const passphrase = passphraseIn(bytes);
  if (passphrase === null) throw refuse(NOT_UTF8, { reason: 'passphrase_not_utf8', values: { path: file } });
  if (passphrase.length < MIN_PASSPHRASE || passphrase.length > MAX_PASSPHRASE)
    throw refuse(
      `it must contain ${MIN_PASSPHRASE} to ${MAX_PASSPHRASE} characters (got ${passphrase.length})`,
      {
        reason: 'not_passphrase_length',
        values: { path: file, min: MIN_PASSPHRASE, max: MAX_PASSPHRASE, got: passphrase.length },
      },
    );
  return passphrase;
}
