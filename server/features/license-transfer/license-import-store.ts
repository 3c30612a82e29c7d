import type { Sequelize } from 'sequelize';
import { insertInto } from '#server/database/insert-row.ts';
import { preparedQuery } from '#server/database/prepared-query.ts';
import { defineLicenseImport } from './license-import-model.ts';

export function createLicenseImportStore(sequelize: Sequelize) {
  const query = preparedQuery(sequelize);
  return {
    insert: insertInto(query, defineLicenseImport(sequelize)),
    /** @returns how many licenses it brought; null if it is not done */
    async findDone(importId: string): Promise<number | null> {
      const [row] = await query<{ licenses: number }>(
        'SELECT licenses AS "licenses" FROM license_imports WHERE import_id = $1',
        [importId],
      );
      return row?.licenses ?? null;
    },
  };
}

export type LicenseImportStore = ReturnType<typeof createLicenseImportStore>;
