// A backup: everything in a data directory that cannot be recreated, in one file.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { MAX_PASSPHRASE, MIN_PASSPHRASE } from '#server/wire/passphrase-length.ts';

export const TAR_TYPE = 'application/x-tar';
export const ENCRYPTED_TYPE = 'application/octet-stream';

export const backupAdminContract = {
  downloadBackup: endpoint({
    method: 'POST',
    path: '/backup/',
    auth: 'admin',
    summary: 'Download a backup of the running server; `license-desk restore` restores it',
    request: z.object({
      passphrase: z
        .string()
        .min(MIN_PASSPHRASE)
        .max(MAX_PASSPHRASE)
        .refine((value) => value.isWellFormed(), 'contains broken Unicode characters')
        .optional()
        .meta({
          description:
            'Encrypts and authenticates the backup, including the master key. Without it, anyone can read the file, the master key is left out, and restoring needs `--accept-unsigned`.',
        }),
    }),
    reply: z.object({}),
    errors: [],
    documents: {
      [ENCRYPTED_TYPE]: 'The backup, encrypted with the passphrase.',
      [TAR_TYPE]: 'The backup without a passphrase: a tar archive.',
    },
  }),
};
