import { Op, type Sequelize } from 'sequelize';
import type { Lookup } from '#server/database/batched-lookup.ts';
import { modelColumns } from '#server/database/column-lists.ts';
import { allOf, type Condition, given } from '#server/database/condition.ts';
import { sqlOf } from '#server/database/sql.ts';
import { forUpdate } from '#server/database/transaction.ts';
import type { CertificateState, RevocationReason } from './certificate-state-contract.ts';
import { type CertificateRow, defineCertificate } from './certificate-model.ts';

export type Certificate = CertificateRow;

export type CertificateReference = { id: number } | { serialNumber: string };

/** The facts that decide whether a certificate is valid and appear in the reply. */
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

const FACTS: Lookup<string> = {
  columns: `
    serial_number AS "serialNumber", subject AS "subject", not_before AS "notBefore", not_after AS "notAfter",
    revoked_at AS "revokedAt", revoke_reason AS "revokeReason"`,
  from: 'certificates WHERE fingerprint = $fingerprint',
  values: (fingerprint) => ({ fingerprint }),
};

const INSERT_KEY = `
  INSERT INTO certificate_keys (certificate_id, token_hash, private_key_sealed, expires_at) 
  VALUES ($certificateId, $tokenHash, $privateKeySealed, $expiresAt)`;

const TAKE_KEY = `
  DELETE FROM certificate_keys WHERE token_hash = $tokenHash AND expires_at > $now
  RETURNING certificate_id AS "certificateId", private_key_sealed AS "privateKeySealed"`;

const HAS_KEY = `SELECT 1 AS "found" FROM certificate_keys WHERE token_hash = $tokenHash`;
const HAS_ENDED_KEY = `SELECT 1 AS "found" FROM certificate_keys WHERE expires_at <= $now LIMIT 1`;
const WIPE_KEYS = 'DELETE FROM certificate_keys WHERE expires_at <= $now';

const CONDITIONS = { licenseId: 'license_id = $licenseId', before: 'id < $before' };

/** Revocation takes precedence over time. */
const STATES: Record<CertificateState, string> = {
  revoked: 'revoked_at IS NOT NULL',
  expired: 'revoked_at IS NULL AND not_after < $now',
  not_yet_valid: 'revoked_at IS NULL AND not_before > $now',
  good: 'revoked_at IS NULL AND not_before <= $now AND not_after >= $now',
};

function inState(state: CertificateState, now: number): Condition {
  return { sql: STATES[state], bind: state === 'revoked' ? {} : { now } };
}

export function createCertificateStore(sequelize: Sequelize) {
  const certificates = defineCertificate(sequelize);
  const sql = sqlOf(sequelize);
  const insertRow = sql.insert(certificates);
  const columns = modelColumns(certificates);
  const byId = sql.statement<Certificate>(`SELECT ${columns} FROM certificates WHERE id = $id`);
  const bySerialNumber = sql.statement<Certificate>(
    `SELECT ${columns} FROM certificates WHERE serial_number = $serialNumber`,
  );
  const newKey = sql.statement(INSERT_KEY);
  const hasKey = sql.statement(HAS_KEY);
  const takeKey = sql.statement<{ certificateId: number; privateKeySealed: string }>(TAKE_KEY);
  const hasEndedKey = sql.statement(HAS_ENDED_KEY);

  return {
    async insert(certificate: Omit<Certificate, 'id'>): Promise<Certificate> {
      return { ...certificate, id: await insertRow(certificate) };
    },

    /** Inserts a certificate of an earlier database, under its ID if that is free. */
    async insertAgain(certificate: Certificate): Promise<Certificate> {
      const { id, ...rest } = certificate;
      if ((await byId.first({ id })) !== null) return { ...certificate, id: await insertRow(rest) };
      await certificates.create(certificate);
      return certificate;
    },

    find: (reference: CertificateReference): Promise<Certificate | null> =>
      ('id' in reference ? byId : bySerialNumber).first({ ...reference }),

    /** @param fingerprint SHA-256 of the DER, lower-case hex */
    findFacts: sql.batched<string, CertificateFacts>(FACTS),

    async findForChange(reference: CertificateReference): Promise<Certificate | null> {
      const row = await certificates.findOne({ where: { ...reference }, raw: true, ...forUpdate() });
      return row as unknown as Certificate | null;
    },

    /** Newest first. Returns one more than `limit` if there are more. */
    list({ licenseId, status, before, limit, now }: CertificateFilter): Promise<Certificate[]> {
      const { sql: where, bind } = allOf([
        ...given(CONDITIONS, { licenseId, before }),
        ...(status === undefined ? [] : [inState(status, now)]),
      ]);
      return sql.select<Certificate>(
        `SELECT ${columns} FROM certificates WHERE ${where} ORDER BY id DESC LIMIT $limit`,
        { ...bind, limit: limit + 1 },
      );
    },

    async markRevoked(id: number, revokedAt: number, revokeReason: RevocationReason): Promise<void> {
      await certificates.update({ revokedAt, revokeReason }, { where: { id } });
    },

    async insertKey(key: NewKey): Promise<void> {
      await newKey.run({ ...key });
    },

    hasKey: async (tokenHash: string): Promise<boolean> => (await hasKey.first({ tokenHash })) !== null,

    /** Takes and deletes the key stored under the token, so only one of several callers gets it. */
    takeKey: (
      tokenHash: string,
      now: number,
    ): Promise<{ certificateId: number; privateKeySealed: string } | null> =>
      takeKey.first({ tokenHash, now }),

    hasEndedKeys: async (now: number): Promise<boolean> => (await hasEndedKey.first({ now })) !== null,

    /** @returns the number of removed keys, which were not downloaded in time */
    wipeKeys: (now: number): Promise<number> => sql.run(WIPE_KEYS, { now }),

    /** Number of certificates of the authority's key that are neither revoked nor expired. */
    async countInForce(authorityKey: string, now: number): Promise<number> {
      return certificates.count({
        where: { authorityKey, revokedAt: null, notAfter: { [Op.gte]: now } },
      });
    },
  };
}

export type CertificateStore = ReturnType<typeof createCertificateStore>;
