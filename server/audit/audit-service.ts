// Writes down who did what; called inside the transaction of the change, so neither is there without the other.
import { idFromCursor, toPage } from '../database/page.ts';
import type { Call } from '../platform/call.ts';
import type { Clock } from '../platform/clock.ts';
import type { RequestOf } from '../platform/endpoint.ts';
import { toTimestamp } from '../platform/fields.ts';
import type { auditAdminContract, AuditEntryObject } from './audit-contract.ts';
import type { AuditRow } from './audit-model.ts';
import type { AuditStore } from './audit-store.ts';

export interface Audit {
  /**
   * @param action past tense, after the noun: `license.revoked`
   * @param subject `license:17`
   * @param before what it was, without secrets; null if it was not
   */
  record(
    call: Call,
    action: string,
    subject: string,
    before: object | null,
    after: object | null,
  ): Promise<void>;
}

function json(state: object | null): string | null {
  return state === null ? null : JSON.stringify(state);
}

function toEntry(row: AuditRow): AuditEntryObject {
  return {
    id: row.id,
    at: toTimestamp(row.createdAt),
    actor_kind: row.actorKind,
    actor_name: row.actorName,
    action: row.action,
    subject: row.subject,
    before: row.beforeState === null ? null : (JSON.parse(row.beforeState) as unknown),
    after: row.afterState === null ? null : (JSON.parse(row.afterState) as unknown),
    request_id: row.requestId,
  };
}

export function createAuditService(needs: { entries: AuditStore; clock: Clock }) {
  const record: Audit['record'] = async (call, action, subject, before, after) => {
    await needs.entries.insert({
      createdAt: needs.clock.now(),
      actorKind: call.actor.kind,
      actorName: call.actor.name,
      action,
      subject,
      beforeState: json(before),
      afterState: json(after),
      requestId: call.requestId,
    });
  };
  return {
    record,
    async list(request: RequestOf<typeof auditAdminContract.listAudit>) {
      const { cursor, limit, subject } = request;
      const rows = await needs.entries.list({ before: idFromCursor(cursor), subject, limit });
      return toPage(rows, limit, toEntry);
    },
  };
}

export type AuditService = ReturnType<typeof createAuditService>;
