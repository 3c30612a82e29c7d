// A backup: everything that a data directory holds and that could not be made again, as one file.
import { z } from 'zod';
import { endpoint } from '../platform/endpoint.ts';

const LEAST_PASSPHRASE = 12;

export const BACKUP_TYPE = 'application/x-tar';

export const backupAdminContract = {
  downloadBackup: endpoint({
    method: 'POST',
    path: '/backup/',
    auth: 'admin',
    summary: 'Download a backup, made while the server runs; `license-desk restore` takes it',
    request: z.object({
      passphrase: z
        .string()
        .min(LEAST_PASSPHRASE)
        .max(1000)
        .refine((value) => value.isWellFormed(), 'is no text')
        .optional()
        .meta({
          description: 'Seals the master key into the backup; without it the key has to be kept apart',
        }),
    }),
    reply: z.object({}),
    errors: [],
    documents: { [BACKUP_TYPE]: 'The backup, a tar archive' },
  }),
};
