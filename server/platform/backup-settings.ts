// The settings of the daily backup.
import { setting, wholeNumber } from './setting.ts';
import { absolutePath, BACKUP_SCHEDULES, type BackupSchedule } from './setting-values.ts';

export const BACKUP_SETTINGS = {
  backupSchedule: setting<BackupSchedule>({
    env: 'LICENSE_DESK_BACKUP_SCHEDULE',
    flag: 'backup-schedule',
    argument: '<off|daily|external>',
    help: 'back up daily to a folder; external turns off the reminders for those who back up by other means',
    allowed: 'off, daily or external',
    kind: 'choice',
    choices: BACKUP_SCHEDULES,
    parse: (text) => BACKUP_SCHEDULES.find((known) => known === text),
    fallback: 'off',
  }),
  backupHour: setting<number>({
    env: 'LICENSE_DESK_BACKUP_HOUR',
    flag: 'backup-hour',
    argument: '<hour>',
    help: "hour of the daily backup, in the server's time zone",
    ...wholeNumber(0, 23),
    fallback: 3,
  }),
  backupFolder: setting<string | null>({
    env: 'LICENSE_DESK_BACKUP_FOLDER',
    flag: 'backup-folder',
    argument: '<dir>',
    help: 'folder for the daily backups, preferably on another disk',
    allowed: 'an absolute path',
    kind: 'path',
    parse: absolutePath,
    fallback: null,
  }),
  backupKeep: setting<number>({
    env: 'LICENSE_DESK_BACKUP_KEEP',
    flag: 'backup-keep',
    argument: '<number>',
    help: 'how many daily backups are kept',
    ...wholeNumber(1, 1000),
    fallback: 14,
  }),
  backupPassphraseFile: setting<string | null>({
    env: 'LICENSE_DESK_BACKUP_PASSPHRASE_FILE',
    flag: 'backup-passphrase-file',
    argument: '<file>',
    help: 'file that holds the passphrase of the daily backups; without it, they are not encrypted',
    allowed: 'an absolute path',
    kind: 'path',
    parse: absolutePath,
    fallback: null,
  }),
};
