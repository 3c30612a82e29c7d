import { toTimestamp } from '#server/wire/fields.ts';
import { isClaimed } from '#server/platform/call.ts';
import type { CsvCell } from '#server/wire/csv.ts';
import type { AuditEntryObject } from './audit-contract.ts';
import type { AuditRow } from './audit-model.ts';

export function toAuditEntry(row: AuditRow): AuditEntryObject {
  return {
    id: row.id,
    at: toTimestamp(row.createdAt),
    actor_kind: row.actorKind,
    actor_name: row.actorName,
    actor_claimed: isClaimed(row.actorKind),
    action: row.action,
    subject: row.subject,
    before: row.beforeState === null ? null : (JSON.parse(row.beforeState) as unknown),
    after: row.afterState === null ? null : (JSON.parse(row.afterState) as unknown),
    request_id: row.requestId,
  };
}

export const AUDIT_CSV_HEADER = [
  'id',
  'at',
  'actor_kind',
  'actor_name',
  'action',
  'subject',
  'before',
  'after',
  'request_id',
  'actor_claimed',
];

/** In the order of the header. */
export function toAuditCells(row: AuditRow): CsvCell[] {
  return [
    row.id,
    toTimestamp(row.createdAt),
    row.actorKind,
    row.actorName,
    row.action,
    row.subject,
    row.beforeState,
    row.afterState,
    row.requestId,
    String(isClaimed(row.actorKind)),
  ];
}
