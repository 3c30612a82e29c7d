// Exports licenses as CSV page by page, with the memory of one page.
import { toLicenseRecord } from '#server/rules/license-presenter.ts';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import type { LicensePosition, LicenseSequence } from '#server/features/licenses/license-finder-store.ts';
import type { License, LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { type CsvCell, csvLine } from '#server/wire/csv.ts';
import { Document } from '#server/platform/document.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { CSV, type licenseTransferAdminContract } from './license-transfer-contract.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'list'>;
  clock: Clock;
}

type Filter = RequestOf<typeof licenseTransferAdminContract.exportLicenses>;

/** Small enough that other requests are served between two pages. */
const PAGE = 100;
const NEWEST_FIRST: LicenseSequence = { sort: 'created', order: 'desc' };

/** By column name. An import recognizes the same names. */
const COLUMNS: Record<string, (license: LicenseRecord) => CsvCell> = {
  license_key: (license) => license.license_key,
  holder: (license) => license.holder,
  email: (license) => license.email,
  product: (license) => license.product,
  plan: (license) => license.plan,
  state: (license) => license.state,
  issued_at: (license) => license.issued_at,
  expires_at: (license) => license.expires_at,
  devices: (license) => license.activation_count,
  max_devices: (license) => license.max_activations,
};

export function createLicenseExport({ licenses, clock }: Needs) {
  /** Newest first, so that licenses issued meanwhile are left out. Each state is as of the start of the export. */
  async function* linesOf({ expires_within_days: expiresWithinDays, ...facets }: Filter) {
    const now = clock.now();
    const filter = { ...facets, expiresWithinDays, now };
    yield csvLine(Object.keys(COLUMNS));
    for (let after: LicensePosition | null = null; ;) {
      const page: License[] = await licenses.list({ ...filter, ...NEWEST_FIRST, after, limit: PAGE });
      const records = page.slice(0, PAGE).map((license) => toLicenseRecord(license, now));
      if (records.length > 0)
        yield records
          .map((record) => csvLine(Object.values(COLUMNS).map((cellOf) => cellOf(record))))
          .join('');
      if (page.length <= PAGE) return;
      after = page[PAGE - 1] ?? null;
    }
  }

  return (filter: Filter): Document =>
    new Document(`${CSV}; charset=utf-8`, linesOf(filter), { fileName: 'licenses.csv' });
}

export type LicenseExport = ReturnType<typeof createLicenseExport>;
