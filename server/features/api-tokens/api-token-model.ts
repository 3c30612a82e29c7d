import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';
import type { ApiTokenRole } from './api-token-contract.ts';

export interface ApiTokenRow {
  id: number;
  name: string;
  role: ApiTokenRole;
  /** Lower-case hex SHA-256. */
  tokenHash: string;
  lastFour: string;
  createdAt: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
}

export type ApiTokenModel = ModelStatic<Model<ApiTokenRow, Optional<ApiTokenRow, 'id'>>>;

export function defineApiToken(sequelize: Sequelize): ApiTokenModel {
  return sequelize.define(
    'apiToken',
    {
      id: idColumn(),
      name: textColumn(),
      role: textColumn(),
      tokenHash: textColumn(),
      lastFour: textColumn(),
      createdAt: integerColumn(),
      lastUsedAt: nullable(integerColumn()),
      revokedAt: nullable(integerColumn()),
    },
    { tableName: 'api_tokens' },
  );
}
