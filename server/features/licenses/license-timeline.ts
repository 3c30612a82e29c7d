// A license's history, newest first: changes and the events that were sent.
import { cursorOf, NUMBER, oneOf } from '#server/database/cursor.ts';
import { toPage } from '#server/database/page.ts';
import { isClaimed } from '#server/platform/call.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { TimelineItem } from './license-timeline-contract.ts';
import { requireLicense } from '#server/rules/license-reference.ts';
import type { LicenseReference } from '#server/rules/license.ts';
import type { LicenseStore } from './license-store.ts';
import type { LicenseTimelineStore, TimelineRow } from './license-timeline-store.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  timeline: LicenseTimelineStore;
}

const CURSOR = cursorOf({ at: NUMBER, kind: oneOf('change', 'event'), id: NUMBER });

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

function toItem(row: TimelineRow): TimelineItem {
  const { kind, id, name, actorKind, actorName, requestId, before, after, body } = row;
  return {
    at: toTimestamp(row.at),
    kind,
    id,
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
      const after = CURSOR.read(cursor);
      const license = requireLicense(await licenses.find(reference));
      return toPage(await timeline.list(license.id, after, limit), limit, toItem, CURSOR.write);
    },
  };
}

export type LicenseTimeline = ReturnType<typeof createLicenseTimeline>;
