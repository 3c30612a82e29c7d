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
  expiresAt: number | null;
  /** A JSON list of networks; null allows any. */
  networks: string | null;
  /** The secret that the last rotation replaced, in the same form as the current one. */
  previousHash: string | null;
  previousLastFour: string | null;
  previousExpiresAt: number | null;
  previousLastUsedAt: number | null;
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
      expiresAt: nullable(integerColumn()),
      networks: nullable(textColumn()),
      previousHash: nullable(textColumn()),
      previousLastFour: nullable(textColumn()),
      previousExpiresAt: nullable(integerColumn()),
      previousLastUsedAt: nullable(integerColumn()),
    },
    { tableName: 'api_tokens' },
  );
}
