import type { Sequelize } from 'sequelize';
import { removeOldest } from '#server/database/remove-oldest.ts';
import { sqlOf } from '#server/database/sql.ts';
import { defineLicenseImport } from './license-import-model.ts';

const FIND_DONE = 'SELECT licenses AS "licenses" FROM license_imports WHERE import_id = $importId';

export function createLicenseImportStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    insert: sql.insert(defineLicenseImport(sequelize)),
    /** @returns the number of imported licenses; null if the import was not completed */
    findDone: async (importId: string): Promise<number | null> =>
      (await sql.selectFirst<{ licenses: number }>(FIND_DONE, { importId }))?.licenses ?? null,
    removeOld: removeOldest(sql, 'license_imports', 'finished_at'),
  };
}

export type LicenseImportStore = ReturnType<typeof createLicenseImportStore>;
