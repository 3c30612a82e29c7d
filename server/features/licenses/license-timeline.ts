// What happened to one license, newest first: who changed what, and what partners were told.
import { toPage } from '#server/database/page.ts';
import { isClaimed } from '#server/platform/call.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { TimelineItem } from './license-contract.ts';
import { licenseNotFound } from '#server/rules/license-reference.ts';
import type { LicenseReference, LicenseStore } from './license-store.ts';
import type { LicenseTimelineStore, TimelinePosition, TimelineRow } from './license-timeline-store.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  timeline: LicenseTimelineStore;
}

const SHAPE = /^(\d{1,15})\.(change|event)\.(\d{1,15})$/u;

function toCursor({ at, kind, id }: TimelinePosition): string {
  return Buffer.from(`${at}.${kind}.${id}`).toString('base64url');
}

/** @throws ApiError `invalid_request` for a cursor that no page gave out */
function fromCursor(cursor: string | undefined): TimelinePosition | null {
  if (cursor === undefined) return null;
  const [, at, kind, id] = SHAPE.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (kind === undefined) throw new ApiError('invalid_request', 'cursor: is none that a page gave out');
  return { at: Number(at), kind: kind as TimelinePosition['kind'], id: Number(id) };
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

function toItem(row: TimelineRow): TimelineItem {
  const { kind, name, actorKind, actorName, requestId, before, after, body } = row;
  return {
    at: toTimestamp(row.at),
    kind,
    name,
    actor_kind: actorKind,
    actor_name: actorName,
    actor_claimed: actorKind !== null && isClaimed(actorKind),
    request_id: requestId,
    detail: kind === 'event' ? parsed(body) : { before: parsed(before), after: parsed(after) },
  };
}

export function createLicenseTimeline({ licenses, timeline }: Needs) {
  return {
    async list(reference: LicenseReference, cursor: string | undefined, limit: number) {
      const after = fromCursor(cursor);
      const license = await licenses.find(reference);
      if (!license) throw licenseNotFound();
      return toPage(await timeline.list(license.id, after, limit), limit, toItem, toCursor);
    },
  };
}

export type LicenseTimeline = ReturnType<typeof createLicenseTimeline>;
