// The daily backup: its schedule, what came of it, and what it has written.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { timestamp } from '#server/wire/fields.ts';

/** Why a daily backup failed. The page has a text for each. */
export const BACKUP_PROBLEMS = [
  'folder_missing',
  'folder_not_writable',
  'passphrase_file',
  'folder_full',
  'data_directory_full',
  'not_verified',
  'other',
] as const;

export type BackupProblem = (typeof BACKUP_PROBLEMS)[number];

const bytes = z.int();

const reply = z.object({
  schedule: z.enum(['off', 'daily', 'external']),
  hour: z.int(),
  time_zone: z.string().meta({ description: 'The time zone of the server, which `hour` is in.' }),
  folder: z.string().nullable(),
  keep: z.int(),
  encrypted: z.boolean().meta({ description: 'Whether a passphrase file is set.' }),
  running: z.boolean(),
  next_at: timestamp.nullable().meta({
    description:
      'When the next daily backup begins, or the next attempt after a failure. Null without a schedule.',
  }),
  last: z
    .object({
      at: timestamp,
      bytes,
      encrypted: z.boolean(),
      path: z.string().nullable().meta({ description: 'Null if it was downloaded.' }),
    })
    .nullable()
    .meta({ description: 'The last successful backup of either kind.' }),
  failure: z
    .object({ at: timestamp, attempts: z.int(), problem: z.enum(BACKUP_PROBLEMS), message: z.string() })
    .nullable()
    .meta({ description: 'Of the last daily backup. Null if it was successful.' }),
});

export const backupStatusAdminContract = {
  showBackups: endpoint({
    method: 'GET',
    path: '/backup/status/',
    auth: 'admin',
    summary: 'Show the schedule of the daily backup, the last backup and the next one',
    request: z.object({}),
    reply,
    errors: [],
  }),
  runBackup: endpoint({
    method: 'POST',
    path: '/backup/run/',
    auth: 'admin',
    summary: 'Write a backup to the backup folder now; replies when it is done',
    request: z.object({}),
    reply,
    errors: [],
  }),
};

export type BackupStatus = z.input<typeof reply>;
