// What was made after a backup and outlives its restore: certificates that relying parties accept, and signing keys that
// verifiers trust. Reads both databases, and changes neither.
import type { AuthorityRow } from '#server/features/certificates/authority-model.ts';
import type { CertificateRow } from '#server/features/certificates/certificate-model.ts';
import type { SigningKeyRow } from '#server/features/signing/signing-key-model.ts';
import type { Values } from '#server/database/named-values.ts';
import { type SqliteFile, openUnchanging, unchangingUri } from '#server/database/sqlite-file.ts';

const ROWS_AT_ONCE = 500;

export const SAME_INSTALLATION = `
  SELECT 1 FROM main.signing_keys AS r JOIN present.signing_keys AS p ON p.key_id = r.key_id LIMIT 1`;

/** The current database may be from a version without key distrust. */
export const KNOWS_DISTRUST = `SELECT 1 FROM pragma_table_info('signing_keys', 'present') WHERE name = 'distrusted_at'`;

/** A backup without an authority gets the current one. Another installation has sealed its key with another master key. */
const RESTORED_AUTHORITY = `coalesce(
  (SELECT a.key_identifier FROM main.certificate_authorities AS a WHERE a.status = 'active'),
  (SELECT a.key_identifier FROM present.certificate_authorities AS a
    WHERE a.status = 'active' AND EXISTS (${SAME_INSTALLATION})))`;

const NEWER = `
  SELECT p.id AS "id", p.serial_number, p.subject, r.id AS "licenseId", p.revoked_at,
    p.authority_key IS ${RESTORED_AUTHORITY} AS "isRevocable"
  FROM present.certificates AS p
    JOIN present.licenses AS l ON l.id = p.license_id
    LEFT JOIN main.licenses AS r ON r.license_key = l.license_key
  WHERE p.not_after > $now AND p.serial_number NOT IN (SELECT serial_number FROM main.certificates)`;

/** Certificates that the backup does not have and that have not expired. The conditions exclude each other. */
export const NEWER_CERTIFICATES = {
  kept: `SELECT * FROM (${NEWER}) WHERE isRevocable AND licenseId IS NOT NULL ORDER BY id`,
  /** Their licenses are not in the backup. */
  revoked: `SELECT * FROM (${NEWER}) WHERE isRevocable AND licenseId IS NULL AND revoked_at IS NULL ORDER BY id`,
  /** Of another authority than the one that signs CRLs after the restore. */
  irrevocable: `SELECT * FROM (${NEWER}) WHERE NOT isRevocable ORDER BY id`,
};

/** Of certificates without a row in the restored database. */
const ORPHANED_ENTRIES = `
  SELECT e.authority_key AS "authorityKey", e.not_after AS "notAfter", e.der_hex AS "derHex", e.json AS "json"
  FROM present.revocation_entries AS e LEFT JOIN present.certificates AS p ON p.id = e.certificate_id
    LEFT JOIN present.licenses AS l ON l.id = p.license_id
  WHERE e.not_after > $now AND e.authority_key IS ${RESTORED_AUTHORITY}
    AND (p.id IS NULL OR l.license_key NOT IN (SELECT license_key FROM main.licenses))
    AND e.json ->> '$.serial_number' NOT IN (SELECT serial_number FROM main.certificates)`;

const CERTIFICATES = `
  SELECT p.id AS "id", p.license_id AS "licenseId", p.authority_key AS "authorityKey", p.serial_number AS "serialNumber",
    p.common_name AS "commonName", p.subject AS "subject", p.not_before AS "notBefore", p.not_after AS "notAfter",
    p.fingerprint AS "fingerprint", p.created_at AS "createdAt", p.revoked_at AS "revokedAt",
    p.revoke_reason AS "revokeReason", p.pem AS "pem", e.der_hex AS "derHex", e.json AS "json"
  FROM certificates AS p LEFT JOIN revocation_entries AS e ON e.certificate_id = p.id
  WHERE p.id IN (SELECT value FROM json_each($ids))`;

const AUTHORITIES = `
  SELECT p.key_identifier AS "keyIdentifier", p.certificate AS "certificate", p.chain AS "chain",
    p.private_key_sealed AS "privateKeySealed", p.not_after AS "notAfter", p.origin AS "origin", p.status AS "status",
    p.created_at AS "createdAt"
  FROM present.certificate_authorities AS p
  WHERE NOT EXISTS (SELECT 1 FROM main.certificate_authorities) AND EXISTS (${SAME_INSTALLATION}) ORDER BY p.id`;

const SIGNING_KEYS = (distrust: string) => `
  SELECT p.key_id AS "keyId", p.public_key AS "publicKey", p.private_key_sealed AS "privateKeySealed",
    p.created_at AS "createdAt", p.retired_at AS "retiredAt", ${distrust}
  FROM present.signing_keys AS p
  WHERE p.key_id NOT IN (SELECT key_id FROM main.signing_keys) AND EXISTS (${SAME_INSTALLATION}) ORDER BY p.id`;
const DISTRUST = 'p.distrusted_at AS "distrustedAt", p.distrust_reason AS "distrustReason"';
const NO_DISTRUST = 'NULL AS "distrustedAt", NULL AS "distrustReason"';

/** An entry of the CRL; both are null unless the certificate is revoked. */
interface Entry {
  derHex: string | null;
  json: string | null;
}

interface OrphanedEntry {
  authorityKey: string;
  notAfter: number;
  derHex: string;
  json: string;
}

/** What a restored database lacks, and needs. */
export interface NewerObjects {
  authorities: Omit<AuthorityRow, 'id'>[];
  signingKeys: Omit<SigningKeyRow, 'id' | 'status'>[];
  /** With the licenses that they have in the restored database. */
  kept: { id: number; licenseId: number }[];
  /** Certificates that the restore revokes. */
  revoked: { id: number }[];
  orphanedEntries: OrphanedEntry[];
}

/** Nothing else may write to the restored database meanwhile. @param now epoch milliseconds */
export async function findNewerObjects(
  restored: string,
  presentFile: string,
  now: number,
): Promise<NewerObjects> {
  const database = await openUnchanging(restored);
  try {
    const all = <Row extends object>(sql: string, values?: Values) => database.all<Row>(sql, values);
    await all('ATTACH $uri AS present', { uri: unchangingUri(presentFile) });
    const distrust = (await all(KNOWS_DISTRUST)).length === 0 ? NO_DISTRUST : DISTRUST;
    return {
      authorities: await all(AUTHORITIES),
      signingKeys: await all(SIGNING_KEYS(distrust)),
      kept: await all(NEWER_CERTIFICATES.kept, { now }),
      revoked: await all(NEWER_CERTIFICATES.revoked, { now }),
      orphanedEntries: await all(ORPHANED_ENTRIES, { now }),
    };
  } finally {
    await database.close();
  }
}

async function* readRows(database: SqliteFile, ids: readonly number[]) {
  for (let start = 0; start < ids.length; start += ROWS_AT_ONCE) {
    const values = { ids: ids.slice(start, start + ROWS_AT_ONCE) };
    yield* await database.all<CertificateRow & Entry>(CERTIFICATES, values);
  }
}

/** @param ids from `findNewerObjects`; a certificate that has since gone is left out */
export async function* readCertificates(presentFile: string, ids: readonly number[]) {
  const database = await openUnchanging(presentFile);
  try {
    yield* readRows(database, ids);
  } finally {
    await database.close();
  }
}
