import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import type { OwnSeatLimits } from '#server/rules/floating-terms.ts';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface LicenseRow extends OwnSeatLimits {
  id: number;
  licenseKey: string;
  holder: string;
  email: string | null;
  orderNumber: string | null;
  notes: string | null;
  /** JSON object of texts by name. */
  customFields: string;
  /** Holder, email address and values of custom fields, case-folded. */
  searchText: string;
  product: string;
  planId: number;
  issuedAt: number;
  expiresAt: number;
  firstActivatedAt: number | null;
  revokedAt: number | null;
  revokeReason: string | null;
  /** Counts renewals, from 1. Each notice is sent once per term. */
  term: number;
  /** When the scan must look at this license next. */
  noticeDueAt: number | null;
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
