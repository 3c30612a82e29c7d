// Restores from the back office: chosen or uploaded, previewed, confirmed, and put in place by the next start.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { timestamp, uploadedFile } from '#server/wire/fields.ts';
import { MAX_PASSPHRASE } from '#server/wire/passphrase-length.ts';
import { API_TOKEN_FACTS, WEBHOOK_FACTS } from './restore-preview.ts';

const BACKUP_TYPE = 'application/octet-stream';
const MAX_UPLOAD_BYTES = 64 * 1024 * 1024 * 1024;
/** Everything is counted, but no more than this is listed. */
export const MAX_PREVIEWED = 100;
const RESTORE_KINDS = ['folder', 'upload', 'before'] as const;

const text = z.string();
const count = z.int();
const bytes = z.int();

const listed = <Item extends z.ZodType>(item: Item) => z.object({ count, items: z.array(item) });

const counts = z.object({ licenses: count, authorization_tokens: count, certificates: count });
const present = z.boolean().nullable();
const changes = <Fact extends string>(facts: readonly Fact[]) =>
  z.array(z.enum(facts)).meta({ description: 'What the restore changes, if it is present.' });

const revived = z.object({
  licenses: listed(z.object({ license_key: text, holder: text, revoked_at: timestamp })),
  authorization_tokens: listed(
    z.object({ id: count, token: text, license_key: text, product: text, ended_at: timestamp }),
  ),
  api_tokens: listed(
    z.object({
      id: count,
      name: text,
      role: text,
      token: text,
      revoked_at: timestamp.nullable().meta({ description: 'Null if the token was rotated.' }),
    }),
  ),
  certificates: listed(z.object({ serial_number: text, subject: text, reason: text, revoked_at: timestamp })),
  webhooks: listed(
    z.object({
      id: count,
      url: text,
      scope: text,
      reason: z.enum(['deleted', 'paused', 'rotated']).meta({ description: 'What the restore takes back.' }),
      ended_at: timestamp.nullable(),
    }),
  ),
  signing_keys: listed(z.object({ key_id: text, distrusted_at: timestamp })),
});

const newerCertificates = listed(z.object({ serial_number: text, subject: text }));
const newer = z
  .object({
    kept: count.meta({ description: 'How many the restore keeps.' }),
    revoked: newerCertificates.meta({
      description: 'Those whose licenses are not in the backup. The restore revokes them.',
    }),
    irrevocable: newerCertificates.meta({
      description:
        'Those of an authority that the backup does not have. No CRL can revoke them after the restore.',
    }),
  })
  .meta({ description: 'Certificates issued after the backup that have not expired.' });

const preview = z.object({
  created_at: text,
  version: text,
  authenticated: z.boolean().meta({
    description:
      'Whether the backup is known to be unaltered: by its passphrase, or because it is the data from before a restore.',
  }),
  from_before: z.boolean().meta({ description: 'Whether it is the data from before a restore.' }),
  counts,
  api_tokens: listed(
    z.object({
      name: text,
      role: text,
      created_at: timestamp,
      token: text,
      present,
      changes: changes(API_TOKEN_FACTS),
    }),
  ),
  webhooks: listed(
    z.object({ url: text, scope: text, created_at: timestamp, present, changes: changes(WEBHOOK_FACTS) }),
  ),
  settings: z.array(z.object({ name: text, now: text.nullable(), restored: text.nullable() })),
  present: z
    .object({ counts, same_installation: z.boolean(), revived, newer_certificates: newer })
    .nullable(),
  present_problem: text.nullable(),
});

const uploadId = text.meta({ description: 'Identifies the file: another upload has another ID.' });

const source = {
  kind: z.enum(RESTORE_KINDS).meta({
    description:
      '`folder`: a file in the backup folder. `upload`: the uploaded file. `before`: the data from before a restore.',
  }),
  name: z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'The file or folder, as listed. Not needed for `upload`.' }),
  upload_id: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'For `upload`: refuses the preview if another upload has replaced this one.' }),
};

const overview = z.object({
  folder: text.nullable(),
  folder_problem: text.nullable().meta({ description: 'Why the backup folder cannot be read.' }),
  files: z
    .array(z.object({ name: text, modified_at: timestamp, bytes, encrypted: z.boolean() }))
    .meta({ description: 'Backups in the folder, newest first.' }),
  upload: z.object({ upload_id: uploadId, bytes, encrypted: z.boolean() }).nullable(),
  before: z
    .array(z.object({ name: text, replaced_at: timestamp }))
    .meta({ description: 'Data that restores have replaced, newest first.' }),
  staged: z
    .object({ source: text, created_at: text, version: text })
    .nullable()
    .meta({ description: 'The confirmed restore that the next start of the server puts in place.' }),
  last: z
    .object({
      source: text,
      created_at: text,
      version: text,
      restored_at: text,
      before: text
        .nullable()
        .meta({ description: 'The folder with the data from before, if it still exists.' }),
    })
    .nullable()
    .meta({ description: 'The last completed restore.' }),
  canceled: z
    .object({
      source: text,
      created_at: text,
      version: text,
      canceled_at: timestamp,
      reason: text,
    })
    .nullable()
    .meta({
      description:
        'The confirmed restore that a start could not put in place, until another one is confirmed. Nothing has changed.',
    }),
  restart: z.boolean().meta({ description: 'Whether the server can restart itself.' }),
});

export const restoreAdminContract = {
  showRestore: endpoint({
    method: 'GET',
    path: '/backup/restore/',
    auth: 'admin',
    summary: 'Show what can be restored, a restore that is waiting for a restart, and the last one',
    request: z.object({}),
    reply: overview,
    errors: [],
  }),
  uploadBackup: endpoint({
    method: 'POST',
    path: '/backup/restore/upload/',
    auth: 'admin',
    summary: 'Upload a backup to restore; it replaces an earlier upload, and is deleted after an hour',
    request: z.object({ file: uploadedFile }),
    reply: z.object({ upload_id: uploadId, bytes, encrypted: z.boolean() }),
    errors: [],
    upload: { contentType: BACKUP_TYPE, maxBytes: MAX_UPLOAD_BYTES },
  }),
  previewRestore: endpoint({
    method: 'POST',
    path: '/backup/restore/preview/',
    auth: 'admin',
    summary: 'Unpack and check a backup, and show what restoring it changes',
    request: z.object({
      ...source,
      passphrase: z.string().max(MAX_PASSPHRASE).optional(),
      accept_unsigned: z.boolean().default(false).meta({
        description: 'Accepts a backup without a passphrase, which anyone may have altered.',
      }),
    }),
    reply: z.object({
      restore_id: text.meta({ description: 'Confirms this restore. Good for an hour.' }),
      preview: preview.meta({
        description: `Lists have up to ${MAX_PREVIEWED} items; counts are complete.`,
      }),
    }),
    errors: ['not_found'],
  }),
  confirmRestore: endpoint({
    method: 'POST',
    path: '/backup/restore/confirm/',
    auth: 'admin',
    summary: 'Restore the previewed backup at the next start of the server; restarts it where possible',
    request: z.object({ restore_id: z.string().max(100) }),
    reply: z.object({
      restarting: z.boolean(),
      restart_advice: text,
    }),
    errors: ['not_found'],
  }),
  cancelRestore: endpoint({
    method: 'POST',
    path: '/backup/restore/cancel/',
    auth: 'admin',
    summary: 'Discard the upload, the preview and a restore that is waiting for a restart',
    request: z.object({
      restore_id: z.string().max(100).optional().meta({
        description:
          'Discards this preview and its upload only, and nothing if it was confirmed or replaced meanwhile.',
      }),
    }),
    reply: z.object({}),
    errors: [],
  }),
};

export type RestoreOverview = z.input<typeof overview>;
export type ShownPreview = z.input<typeof preview>;
