import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface AuthorizationTokenRow {
  id: number;
  licenseId: number;
  product: string;
  name: string | null;
  /** Lower-case hex SHA-256. */
  tokenHash: string;
  lastFour: string;
  /** Becomes `expired` only when a successor is issued; until then, expiry follows from the clock. */
  status: 'active' | 'revoked' | 'replaced' | 'expired';
  createdAt: number;
  expiresAt: number;
  endedAt: number | null;
  lastUsedAt: number | null;
}

export type AuthorizationTokenModel = ModelStatic<
  Model<AuthorizationTokenRow, Optional<AuthorizationTokenRow, 'id'>>
>;

export function defineAuthorizationToken(sequelize: Sequelize): AuthorizationTokenModel {
  return sequelize.define(
    'authorizationToken',
    {
      id: idColumn(),
      licenseId: integerColumn(),
      product: textColumn(),
      name: nullable(textColumn()),
      tokenHash: textColumn(),
      lastFour: textColumn(),
      status: textColumn(),
      createdAt: integerColumn(),
      expiresAt: integerColumn(),
      endedAt: nullable(integerColumn()),
      lastUsedAt: nullable(integerColumn()),
    },
    { tableName: 'authorization_tokens' },
  );
}
