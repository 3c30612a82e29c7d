// Retention: how long records are kept, how much is stored, and what the last run removed.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { timestamp } from '#server/wire/fields.ts';

export const RETENTION_KINDS = [
  'events',
  'deliveries',
  'attempts',
  'audit',
  'idempotency',
  'webhooks',
  'imports',
  'restores',
  'denied_calls',
  'leases',
  'lease_denials',
  'lease_usage',
] as const;

export type RetentionKind = (typeof RETENTION_KINDS)[number];

const count = z.int();
const bytes = z.int().nullable();

const retentionItem = z.object({
  kind: z.enum(RETENTION_KINDS),
  entries: count,
  entries_estimated: z
    .boolean()
    .meta({ description: 'Whether `entries` is an estimate: on PostgreSQL, above 10,000' }),
  bytes: bytes.meta({
    description:
      'PostgreSQL and files: as measured. SQLite: estimated from a sample of rows. Null if unknown',
  }),
  oldest_at: timestamp.nullable(),
  setting: z.string().nullable().meta({ description: 'The setting that says how long, if there is one' }),
  keep_days: count.nullable().meta({
    description: '0: forever. Null: deleted webhooks, which are removed with the last of their deliveries',
  }),
  last_removed: count.meta({ description: 'Removed by the last run' }),
  removed_total: count,
});

export const retentionAdminContract = {
  showRetention: endpoint({
    method: 'GET',
    path: '/retention/',
    auth: 'admin',
    summary: 'Show how much is stored, how long each kind of record is kept, and what was removed',
    request: z.object({}),
    reply: z.object({
      database: z.object({
        dialect: z.enum(['sqlite', 'postgres']),
        bytes: bytes.meta({ description: 'Size of the database, write-ahead log excluded' }),
        free_bytes: bytes.meta({
          description: 'Of these, free for new records. PostgreSQL does not report this: null',
        }),
      }),
      last_run_at: timestamp.nullable(),
      items: z.array(retentionItem),
    }),
    errors: [],
  }),
};

export type RetentionItem = z.input<typeof retentionItem>;
