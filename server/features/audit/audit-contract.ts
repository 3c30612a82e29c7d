// Who did what, when, and what it changed.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, moment, pageOf, pageRequest, queryId, searchText, timestamp } from '#server/wire/fields.ts';

const auditEntry = z.object({
  id,
  at: timestamp,
  actor_kind: z.string(),
  actor_name: z.string(),
  actor_claimed: z
    .boolean()
    .meta({ description: 'Whether `actor_name` is what a command said of its user, which nothing proves' }),
  action: z.string(),
  subject: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  request_id: z.string().nullable(),
});

const auditFilter = {
  /** The whole name. */
  actor: searchText(100).optional(),
  action: z
    .string()
    .regex(
      /^[a-z_]{1,40}\.[a-z_]{0,40}$/u,
      'must be an action such as license.revoked, or license. for all of them',
    )
    .optional(),
  subject: searchText(100).optional(),
  /** From this moment on. */
  from: moment.optional(),
  /** Before this moment. */
  to: moment.optional(),
  /** What a request's id begins with. */
  request_id: z
    .string()
    .regex(/^[\w.:-]{1,128}$/u, 'must be a request id or its beginning')
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
    summary: 'List the actions that there are entries of',
    request: z.object({}),
    reply: z.object({ actions: z.array(z.string()) }),
    errors: [],
  }),
  exportAudit: endpoint({
    method: 'GET',
    path: '/audit/export/',
    auth: 'admin',
    summary: 'Audit entries as a CSV file, newest first',
    request: z.object(auditFilter),
    reply: z.object({}),
    documents: { 'text/csv': 'A header row, then one row for each entry; `before` and `after` hold JSON' },
    errors: [],
  }),
};

export type AuditEntryObject = z.input<typeof auditEntry>;
