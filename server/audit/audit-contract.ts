// Who did what, when, and what it changed.
import { z } from 'zod';
import { endpoint } from '../platform/endpoint.ts';
import { id, pageOf, pageRequest, searchText, timestamp } from '../platform/fields.ts';

const auditEntry = z.object({
  id,
  at: timestamp,
  actor_kind: z.string(),
  actor_name: z.string(),
  action: z.string(),
  subject: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  request_id: z.string().nullable(),
});

export const auditAdminContract = {
  listAudit: endpoint({
    method: 'GET',
    path: '/audit/',
    auth: 'admin',
    summary: 'List audit entries, newest first',
    request: z.object({ ...pageRequest, subject: searchText(100).optional() }),
    reply: z.object(pageOf(auditEntry)),
    errors: [],
  }),
};

export type AuditEntryObject = z.input<typeof auditEntry>;
