import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';
import type { RevocationReason } from './certificate-state-contract.ts';

export interface CertificateRow {
  id: number;
  licenseId: number;
  /** Identifier of the authority's key, lower-case hex. */
  authorityKey: string;
  /** 32 lower-case hex digits. */
  serialNumber: string;
  commonName: string;
  subject: string;
  notBefore: number;
  notAfter: number;
  /** SHA-256 of the DER, lower-case hex. */
  fingerprint: string;
  createdAt: number;
  revokedAt: number | null;
  revokeReason: RevocationReason | null;
  pem: string;
}

export type CertificateModel = ModelStatic<Model<CertificateRow, Optional<CertificateRow, 'id'>>>;

export function defineCertificate(sequelize: Sequelize): CertificateModel {
  return sequelize.define(
    'certificate',
    {
      id: idColumn(),
      licenseId: integerColumn(),
      authorityKey: textColumn(),
      serialNumber: textColumn(),
      commonName: textColumn(),
      subject: textColumn(),
      notBefore: integerColumn(),
      notAfter: integerColumn(),
      fingerprint: textColumn(),
      createdAt: integerColumn(),
      revokedAt: nullable(integerColumn()),
      revokeReason: nullable(textColumn()),
      pem: textColumn(),
    },
    { tableName: 'certificates' },
  );
}
