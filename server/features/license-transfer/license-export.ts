// Exports licenses as CSV page by page, with the memory of one page.
import { toLicenseRecord } from '#server/rules/license-presenter.ts';
import type { LicensePosition, LicenseSequence } from '#server/features/licenses/license-finder-store.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { csvLine, csvStart } from '#server/wire/csv.ts';
import { Document } from '#server/platform/document.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { licenseColumns } from './license-csv-contract.ts';
import { CSV, type licenseTransferAdminContract } from './license-transfer-contract.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'list' | 'listFieldNames'>;
  clock: Clock;
}

type Request = RequestOf<typeof licenseTransferAdminContract.exportLicenses>;

/** Small enough that other requests are served between two pages. */
const PAGE = 100;
const NEWEST_FIRST: LicenseSequence = { sort: 'created', order: 'desc' };

export function createLicenseExport({ licenses, clock }: Needs) {
  /** Newest first, so that licenses issued meanwhile are left out. Each state is as of the start of the export. */
  async function* linesOf(request: Request) {
    const { separator, bom, expires_within_days: expiresWithinDays, ...facets } = request;
    const now = clock.now();
    const filter = { ...facets, expiresWithinDays, now };
    const columns = licenseColumns(await licenses.listFieldNames());
    const names = columns.map(({ name }) => name);
    yield csvStart({ bom }) + csvLine(names, separator);
    for (let after: LicensePosition | null = null; ;) {
      const page: License[] = await licenses.list({ ...filter, ...NEWEST_FIRST, after, limit: PAGE });
      const records = page.slice(0, PAGE).map((license) => toLicenseRecord(license, now));
      const rows = records.map((record) => columns.map(({ cellOf }) => cellOf(record)));
      if (rows.length > 0) yield rows.map((cells) => csvLine(cells, separator)).join('');
      if (page.length <= PAGE) return;
      after = page[PAGE - 1] ?? null;
    }
  }

  return (request: Request): Document =>
    new Document(`${CSV}; charset=utf-8`, linesOf(request), { fileName: 'licenses.csv' });
}

export type LicenseExport = ReturnType<typeof createLicenseExport>;
