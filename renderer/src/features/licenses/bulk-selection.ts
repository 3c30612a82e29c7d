// The licenses that a bulk change is about: rows of the list, or everything that matches its filter.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { adminClient } from '../../api/admin-client.ts';
import type { LicenseFilter } from './license-filters.ts';

/** The API's limit per call. */
const BATCH = 100;

export interface BulkSelection {
  count: number;
  /** The first ones, for a preview. */
  sample: readonly LicenseRecord[];
  /** Null if not all of them are loaded. */
  activeDevices: number | null;
  /** Up to a hundred at once. */
  batches(): AsyncIterable<readonly LicenseRecord[]>;
}

export function selectionOf(licenses: readonly LicenseRecord[]): BulkSelection {
  return {
    count: licenses.length,
    sample: licenses,
    activeDevices: licenses.reduce((sum, license) => sum + license.activation_count, 0),
    async *batches() {
      for (let from = 0; from < licenses.length; from += BATCH) yield licenses.slice(from, from + BATCH);
    },
  };
}

/**
 * Reads the list in the order of issue, which a change does not affect, so that licenses that no longer match move no
 * others.
 */
export function selectionMatching(
  filter: LicenseFilter,
  count: number,
  sample: readonly LicenseRecord[],
): BulkSelection {
  return {
    count,
    sample,
    activeDevices: null,
    async *batches() {
      let cursor: string | null = null;
      let left = count;
      do {
        const page: { items: LicenseRecord[]; next_cursor: string | null } = await adminClient.listLicenses({
          ...filter,
          sort: 'created',
          order: 'desc',
          limit: BATCH,
          ...(cursor === null ? {} : { cursor }),
        });
        // More than were confirmed must not be changed.
        if (page.items.length > 0) yield page.items.slice(0, left);
        left -= page.items.length;
        cursor = page.next_cursor;
      } while (cursor !== null && left > 0);
    },
  };
}
