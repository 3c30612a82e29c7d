import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, textColumn } from '#server/database/columns.ts';

export interface AuthorityRow {
  id: number;
  /** Lower-case hex. The rows of a renewed authority share one key. */
  keyIdentifier: string;
  /** PEM. */
  certificate: string;
  /** PEM of the authorities above an imported one; empty for a root. */
  chain: string;
  /** PKCS#8 DER, sealed with the master key. */
  privateKeySealed: string;
  notAfter: number;
  origin: 'made' | 'imported';
  status: 'active' | 'retired';
  createdAt: number;
}

export type AuthorityModel = ModelStatic<Model<AuthorityRow, Optional<AuthorityRow, 'id'>>>;

export function defineAuthority(sequelize: Sequelize): AuthorityModel {
  return sequelize.define(
    'certificateAuthority',
    {
      id: idColumn(),
      keyIdentifier: textColumn(),
      certificate: textColumn(),
      chain: textColumn(),
      privateKeySealed: textColumn(),
      notAfter: integerColumn(),
      origin: textColumn(),
      status: textColumn(),
      createdAt: integerColumn(),
    },
    { tableName: 'certificate_authorities' },
  );
}
