// The licenses that a bulk change is about: rows of the list, or everything that matches its filter.
import type { LicenseRecord, ListedLicense } from '#server/features/licenses/license-contract.ts';
import { adminClient } from '../../api/admin-client.ts';
import type { LicenseFilter } from './license-filters.ts';

/** The API's limit per call. */
const BATCH = 100;
const NEWEST_FIRST = { sort: 'created', order: 'desc' } as const;

/** Each is null if no license of the selection has such. */
interface InUse {
  devices: number | null;
  floatingSeats: number | null;
}

export interface BulkSelection {
  count: number;
  /** The first ones, for a preview. */
  sample: readonly LicenseRecord[];
  /** Null if not all of them are loaded. */
  inUse: InUse | null;
  /** Up to a hundred at once. */
  batches(): AsyncIterable<readonly LicenseRecord[]>;
}

function inUseOf(licenses: readonly ListedLicense[]): InUse {
  const sum = (counts: readonly number[]) =>
    counts.length === 0 ? null : counts.reduce((all, count) => all + count, 0);
  return {
    devices: sum(licenses.flatMap((one) => (one.licensing === 'floating' ? [] : one.activation_count))),
    floatingSeats: sum(licenses.flatMap(({ seats_in_use: seats }) => seats ?? [])),
  };
}

export function selectionOf(licenses: readonly ListedLicense[]): BulkSelection {
  return {
    count: licenses.length,
    sample: licenses,
    inUse: inUseOf(licenses),
    async *batches() {
      for (let from = 0; from < licenses.length; from += BATCH) yield licenses.slice(from, from + BATCH);
    },
  };
}

/** What a filter matches at one moment. */
export interface Matching {
  count: number;
  /** The ID of the license that was issued last; 0 if there are none. */
  newestId: number;
}

/**
 * The newest is read first: what is issued in between is counted and left alone, rather than changed uncounted.
 * @returns null if there are more than the server counts, because their number could not be confirmed
 */
export async function matchingOf(filter: LicenseFilter): Promise<Matching | null> {
  const [newest] = (await adminClient.listLicenses({ ...filter, ...NEWEST_FIRST, limit: 1 })).items;
  const { count, exact } = await adminClient.countLicenses(filter);
  return exact ? { count, newestId: newest?.license_id ?? 0 } : null;
}

/**
 * Reads the list in the order of issue, which a change does not affect, so that licenses that no longer match move no
 * others. Those that were issued after the confirmation are left alone.
 */
export function selectionMatching(
  filter: LicenseFilter,
  { count, newestId }: Matching,
  sample: readonly LicenseRecord[],
): BulkSelection {
  return {
    count,
    sample,
    inUse: null,
    async *batches() {
      let cursor: string | null = null;
      let left = count;
      do {
        const page: { items: LicenseRecord[]; next_cursor: string | null } = await adminClient.listLicenses({
          ...filter,
          ...NEWEST_FIRST,
          limit: BATCH,
          ...(cursor === null ? {} : { cursor }),
        });
        // More than were confirmed must not be changed, even if others have come to match.
        const confirmed = page.items.filter(({ license_id: id }) => id <= newestId).slice(0, left);
        if (confirmed.length > 0) yield confirmed;
        left -= confirmed.length;
        cursor = page.next_cursor;
      } while (cursor !== null && left > 0);
    },
  };
}
