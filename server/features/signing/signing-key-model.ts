import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface SigningKeyRow {
  id: number;
  keyId: string;
  /** The 32 bytes, base64. */
  publicKey: string;
  /** PKCS#8 DER, sealed with the master key. */
  privateKeySealed: string;
  status: 'active' | 'retired';
  createdAt: number;
  retiredAt: number | null;
  /** Null unless the key is distrusted. */
  distrustedAt: number | null;
  distrustReason: string | null;
}

export type SigningKeyModel = ModelStatic<Model<SigningKeyRow, Optional<SigningKeyRow, 'id'>>>;

export function defineSigningKey(sequelize: Sequelize): SigningKeyModel {
  return sequelize.define(
    'signingKey',
    {
      id: idColumn(),
      keyId: textColumn(),
      publicKey: textColumn(),
      privateKeySealed: textColumn(),
      status: textColumn(),
      createdAt: integerColumn(),
      retiredAt: nullable(integerColumn()),
      distrustedAt: nullable(integerColumn()),
      distrustReason: nullable(textColumn()),
    },
    { tableName: 'signing_keys' },
  );
}
