// The audit log: who changed what, and when.
import { z } from 'zod';
import { csvStyle } from '#server/wire/csv-fields.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { sentenceOf } from '#server/wire/field-rules.ts';
import { id, moment, pageOf, pageRequest, queryId, searchText, timestamp } from '#server/wire/fields.ts';

const auditEntry = z.object({
  id,
  at: timestamp,
  actor_kind: z.string(),
  actor_name: z.string(),
  actor_claimed: z
    .boolean()
    .meta({ description: 'Whether `actor_name` is the name that a command claimed, without proof.' }),
  action: z.string(),
  subject: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  request_id: z.string().nullable(),
});

/** Names of API tokens are the longest. */
export const MAX_ACTOR_NAME = 200;

const auditFilter = {
  /** The full name. */
  actor: searchText(MAX_ACTOR_NAME).optional(),
  action: z
    .string()
    .regex(/^[a-z_]{1,40}\.[a-z_]{0,40}$/u, sentenceOf('not_an_action'))
    .optional(),
  subject: searchText(100).optional(),
  /** At or after this time. */
  from: moment.optional(),
  /** Before this time. */
  to: moment.optional(),
  /** The prefix of a request ID. */
  request_id: z
    .string()
    .regex(/^[\w.:-]{1,128}$/u, sentenceOf('not_a_request_id'))
    .optional(),
};

export const auditAdminContract = {
  listAudit: endpoint({
    method: 'GET',
    path: '/audit/',
    auth: 'admin',
    summary: 'List audit entries, newest first',
    request: z.object({ ...pageRequest, ...auditFilter }),
    reply: z.object(pageOf(auditEntry)),
    errors: [],
  }),
  showAuditEntry: endpoint({
    method: 'GET',
    path: '/audit/show/',
    auth: 'admin',
    summary: 'Show one audit entry',
    request: z.object({ id: queryId }),
    reply: z.object({ entry: auditEntry }),
    errors: ['not_found'],
  }),
  listAuditActions: endpoint({
    method: 'GET',
    path: '/audit/actions/',
    auth: 'admin',
    summary: 'List the actions that occur in the audit log',
    request: z.object({}),
    reply: z.object({ actions: z.array(z.string()) }),
    errors: [],
  }),
  exportAudit: endpoint({
    method: 'GET',
    path: '/audit/export/',
    auth: 'admin',
    summary: 'Download audit entries as CSV, newest first',
    request: z.object({ ...auditFilter, ...csvStyle }),
    reply: z.object({}),
    documents: { 'text/csv': 'A header row, then one row per entry. `before` and `after` contain JSON.' },
    errors: [],
  }),
};

export type AuditEntryObject = z.input<typeof auditEntry>;
