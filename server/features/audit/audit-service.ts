// Records who changed what. Called inside the transaction of the change, so that both are committed or neither.
import { idFromCursor, toPage } from '#server/database/page.ts';
import { afterCommit } from '#server/database/current-transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { csvLine, csvStart, type CsvStyle } from '#server/wire/csv.ts';
import { Document } from '#server/platform/document.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { auditAdminContract } from './audit-contract.ts';
import type { AuditRow } from './audit-model.ts';
import { AUDIT_CSV_HEADER, toAuditCells, toAuditEntry } from './audit-presenter.ts';
import type { AuditSelection, AuditStore } from './audit-store.ts';

/** Small enough that other queries run between two pages. */
const EXPORT_PAGE = 500;

export interface Audit {
  /**
   * @param action noun and past tense: `license.revoked`
   * @param subject `license:17`
   * @param before the previous state without secrets; null if the object is new
   */
  record(
    call: Call,
    action: string,
    subject: string,
    before: object | null,
    after: object | null,
  ): Promise<void>;
}

interface AuditedChange {
  subject: string;
  before: object | null;
  after: object | null;
}

/** A committed entry; for a bulk change, the first of them. */
export interface RecordedEntry extends AuditedChange {
  call: Call;
  action: string;
}

interface Needs {
  entries: AuditStore;
  clock: Clock;
  /** Called after an entry has been committed. */
  onRecorded?(entry: RecordedEntry): void;
}

function json(state: object | null): string | null {
  return state === null ? null : JSON.stringify(state);
}

function toFilter({
  request_id: requestId,
  ...filter
}: Omit<RequestOf<typeof auditAdminContract.exportAudit>, keyof CsvStyle>) {
  return { ...filter, requestId };
}

export function createAuditService({ entries, clock, onRecorded }: Needs) {
  function toRow(
    call: Call,
    action: string,
    { subject, before, after }: AuditedChange,
  ): Omit<AuditRow, 'id'> {
    return {
      createdAt: clock.now(),
      actorKind: call.actor.kind,
      actorName: call.actor.name,
      action,
      subject,
      beforeState: json(before),
      afterState: json(after),
      requestId: call.requestId,
    };
  }

  const record: Audit['record'] = async (call, action, subject, before, after) => {
    await entries.insert(toRow(call, action, { subject, before, after }));
    if (onRecorded) afterCommit(() => onRecorded({ call, action, subject, before, after }));
  };

  /** Reads by keyset with constant memory. Entries added meanwhile are not included. */
  async function* csvOf(selection: AuditSelection, { separator, bom }: CsvStyle): AsyncGenerator<string> {
    yield csvStart({ bom }) + csvLine(AUDIT_CSV_HEADER, separator);
    for (let before: number | null = null; ;) {
      const rows = await entries.list(selection, before, EXPORT_PAGE);
      const page = rows.slice(0, EXPORT_PAGE);
      if (page.length > 0) yield page.map((row) => csvLine(toAuditCells(row), separator)).join('');
      if (rows.length <= EXPORT_PAGE) return;
      before = page.at(-1)?.id ?? null;
    }
  }

  return {
    record,
    /** Records a bulk change: one entry per object, as if they were changed one by one. */
    async recordAll(call: Call, action: string, changes: readonly AuditedChange[]): Promise<void> {
      await entries.insertAll(changes.map((change) => toRow(call, action, change)));
      const [first] = changes;
      if (onRecorded && first) afterCommit(() => onRecorded({ call, action, ...first }));
    },
    async list({ cursor, limit, ...filter }: RequestOf<typeof auditAdminContract.listAudit>) {
      const before = idFromCursor(cursor);
      const selection = await entries.prepare(toFilter(filter));
      return toPage(await entries.list(selection, before, limit), limit, toAuditEntry);
    },
    async show(id: number) {
      const entry = await entries.find(id);
      if (!entry) throw new ApiError('not_found', `audit entry ${id} not found`);
      return { entry: toAuditEntry(entry) };
    },
    listActions: () => entries.listActions(),
    async export({
      separator,
      bom,
      ...filter
    }: RequestOf<typeof auditAdminContract.exportAudit>): Promise<Document> {
      const selection = await entries.prepare(toFilter(filter));
      return new Document('text/csv; charset=utf-8', csvOf(selection, { separator, bom }), {
        fileName: 'audit.csv',
      });
    },
  };
}

export type AuditService = ReturnType<typeof createAuditService>;
