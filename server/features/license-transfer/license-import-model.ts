import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, textColumn } from '#server/database/columns.ts';

/** A completed import, recorded so that it never runs again. */
export interface LicenseImportRow {
  id: number;
  importId: string;
  licenses: number;
  finishedAt: number;
}

export type LicenseImportModel = ModelStatic<Model<LicenseImportRow, Optional<LicenseImportRow, 'id'>>>;

export function defineLicenseImport(sequelize: Sequelize): LicenseImportModel {
  return sequelize.define(
    'licenseImport',
    {
      id: idColumn(),
      importId: textColumn(),
      licenses: integerColumn(),
      finishedAt: integerColumn(),
    },
    { tableName: 'license_imports' },
  );
}
