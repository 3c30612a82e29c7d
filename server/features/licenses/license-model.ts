import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import type { NewLicense } from '#server/rules/license.ts';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface LicenseRow extends Omit<NewLicense, 'customFields'> {
  id: number;
  /** JSON object of texts by name. */
  customFields: string;
}

export type LicenseModel = ModelStatic<Model<LicenseRow, Optional<LicenseRow, 'id'>>>;

export function defineLicense(sequelize: Sequelize): LicenseModel {
  return sequelize.define(
    'license',
    {
      id: idColumn(),
      licenseKey: textColumn(),
      holder: textColumn(),
      email: nullable(textColumn()),
      orderNumber: nullable(textColumn()),
      notes: nullable(textColumn()),
      customFields: textColumn(),
      searchText: textColumn(),
      product: textColumn(),
      planId: integerColumn(),
      issuedAt: integerColumn(),
      expiresAt: integerColumn(),
      firstActivatedAt: nullable(integerColumn()),
      revokedAt: nullable(integerColumn()),
      revokeReason: nullable(textColumn()),
      term: integerColumn(),
      noticeDueAt: nullable(integerColumn()),
      ownSeats: nullable(integerColumn()),
      ownOverdraftSeats: nullable(integerColumn()),
      ownBorrowMaxHours: nullable(integerColumn()),
      ownBorrowMaxCount: nullable(integerColumn()),
      ownBorrowKeepFree: nullable(integerColumn()),
    },
    { tableName: 'licenses' },
  );
}
