import { Op, type Sequelize, type WhereOptions } from 'sequelize';
import { batched, type Lookup } from '#server/database/batched-lookup.ts';
import { insertInto } from '#server/database/insert-row.ts';
import { preparedQuery } from '#server/database/prepared-query.ts';
import { forUpdate } from '#server/database/transaction.ts';
import type { CertificateState, RevocationReason } from './certificate-state-contract.ts';
import { type CertificateRow, defineCertificate } from './certificate-model.ts';

export type Certificate = CertificateRow;

export type CertificateReference = { id: number } | { serialNumber: string };

/** What decides over a certificate, and what the verdict says of it. */
export type CertificateFacts = Pick<
  Certificate,
  'serialNumber' | 'subject' | 'notBefore' | 'notAfter' | 'revokedAt' | 'revokeReason'
>;

interface CertificateFilter {
  licenseId: number | undefined;
  status: CertificateState | undefined;
  before: number | null;
  limit: number;
  now: number;
}

interface NewKey {
  certificateId: number;
  tokenHash: string;
  privateKeySealed: string;
  expiresAt: number;
}

interface NewRevocationEntry {
  certificateId: number;
  authorityKey: string;
  notAfter: number;
  derHex: string;
  json: string;
}

const COLUMNS = `
  id AS "id", license_id AS "licenseId", authority_key AS "authorityKey", serial_number AS "serialNumber",
  common_name AS "commonName", subject AS "subject", not_before AS "notBefore", not_after AS "notAfter",
  fingerprint AS "fingerprint", created_at AS "createdAt", revoked_at AS "revokedAt",
  revoke_reason AS "revokeReason", pem AS "pem"`;

const FACTS: Lookup<string> = {
  select: (parameter) => `
    serial_number AS "serialNumber", subject AS "subject", not_before AS "notBefore", not_after AS "notAfter",
    revoked_at AS "revokedAt", revoke_reason AS "revokeReason"
    FROM certificates WHERE fingerprint = $${parameter}`,
  values: (fingerprint) => [fingerprint],
  nothing: [null],
};

const INSERT_KEY = `
  INSERT INTO certificate_keys (certificate_id, token_hash, private_key_sealed, expires_at) VALUES ($1, $2, $3, $4)`;

const TAKE_KEY = `
  DELETE FROM certificate_keys WHERE token_hash = $1 AND expires_at > $2
  RETURNING certificate_id AS "certificateId", private_key_sealed AS "privateKeySealed"`;

const INSERT_REVOCATION = `
  INSERT INTO revocation_entries (certificate_id, authority_key, not_after, der_hex, json) VALUES ($1, $2, $3, $4, $5)`;

/** The condition under which a certificate is in the state; revoked comes before anything the clock says. */
function inState(state: CertificateState, now: number): WhereOptions {
  switch (state) {
    case 'revoked':
      return { revokedAt: { [Op.ne]: null } };
    case 'expired':
      return { revokedAt: null, notAfter: { [Op.lt]: now } };
    case 'not_yet_valid':
      return { revokedAt: null, notBefore: { [Op.gt]: now } };
    case 'good':
      return { revokedAt: null, notBefore: { [Op.lte]: now }, notAfter: { [Op.gte]: now } };
  }
}

export function createCertificateStore(sequelize: Sequelize) {
  const certificates = defineCertificate(sequelize);
  const query = preparedQuery(sequelize);
  const insertRow = insertInto(query, certificates);

  return {
    async insert(certificate: Omit<Certificate, 'id'>): Promise<Certificate> {
      return { ...certificate, id: await insertRow(certificate) };
    },

    async find(reference: CertificateReference): Promise<Certificate | null> {
      const [column, value] =
        'id' in reference ? ['id', reference.id] : ['serial_number', reference.serialNumber];
      const [row] = await query<Certificate>(`SELECT ${COLUMNS} FROM certificates WHERE ${column} = $1`, [
        value,
      ]);
      return row ?? null;
    },

    /** @param fingerprint SHA-256 of the DER, lower-case hex */
    findFacts: batched<string, CertificateFacts>(query, FACTS),

    async findForChange(reference: CertificateReference): Promise<Certificate | null> {
      const row = await certificates.findOne({ where: { ...reference }, raw: true, ...forUpdate() });
      return row as unknown as Certificate | null;
    },

    /** Newest first, one more than `limit` if there are more. */
    async list({ licenseId, status, before, limit, now }: CertificateFilter): Promise<Certificate[]> {
      const rows = await certificates.findAll({
        where: {
          ...(licenseId === undefined ? {} : { licenseId }),
          ...(before === null ? {} : { id: { [Op.lt]: before } }),
          ...(status === undefined ? {} : (inState(status, now) as object)),
        },
        order: [['id', 'DESC']],
        limit: limit + 1,
        raw: true,
      });
      return rows as unknown as Certificate[];
    },

    async markRevoked(id: number, revokedAt: number, revokeReason: RevocationReason): Promise<void> {
      await certificates.update({ revokedAt, revokeReason }, { where: { id } });
    },

    async insertRevocation(entry: NewRevocationEntry): Promise<void> {
      const { certificateId, authorityKey, notAfter, derHex, json } = entry;
      await query(INSERT_REVOCATION, [certificateId, authorityKey, notAfter, derHex, json]);
    },

    async insertKey({ certificateId, tokenHash, privateKeySealed, expiresAt }: NewKey): Promise<void> {
      await query(INSERT_KEY, [certificateId, tokenHash, privateKeySealed, expiresAt]);
    },

    async hasKey(tokenHash: string): Promise<boolean> {
      return (
        (await query('SELECT 1 AS "found" FROM certificate_keys WHERE token_hash = $1', [tokenHash])).length >
        0
      );
    },

    /** The key that waits under the token, which is gone with this: of many callers one gets it. */
    async takeKey(
      tokenHash: string,
      now: number,
    ): Promise<{ certificateId: number; privateKeySealed: string } | null> {
      const [row] = await query<{ certificateId: number; privateKeySealed: string }>(TAKE_KEY, [
        tokenHash,
        now,
      ]);
      return row ?? null;
    },

    async hasEndedKeys(now: number): Promise<boolean> {
      const sql = 'SELECT 1 AS "found" FROM certificate_keys WHERE expires_at <= $1 LIMIT 1';
      return (await query(sql, [now])).length > 0;
    },

    /** @returns how many keys that nobody fetched in time were removed */
    async wipeKeys(now: number): Promise<number> {
      const gone = await query('DELETE FROM certificate_keys WHERE expires_at <= $1 RETURNING id', [now]);
      return gone.length;
    },

    /** How many certificates of the authority's key are neither revoked nor over. */
    async countInForce(authorityKey: string, now: number): Promise<number> {
      return certificates.count({
        where: { authorityKey, revokedAt: null, notAfter: { [Op.gte]: now } },
      });
    },
  };
}

export type CertificateStore = ReturnType<typeof createCertificateStore>;
