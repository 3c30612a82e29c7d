// What was made after a backup and outlives its restore: certificates that relying parties accept, and signing keys that
// verifiers trust. Reads both databases, and changes neither.
import type { AuthorityRow } from '#server/features/certificates/authority-model.ts';
import type { CertificateRow } from '#server/features/certificates/certificate-model.ts';
import type { RevocationReason } from '#server/features/certificates/certificate-state-contract.ts';
import type { SigningKeyRow } from '#server/features/signing/signing-key-model.ts';
import { NotReplacedError } from '#server/database/move/not-replaced.ts';
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

/** Also entries of certificates that the backup has lost. */
const LISTED_IN_BACKUP = `SELECT json ->> '$.serial_number' FROM main.revocation_entries`;

/** Certificates that the backup does not have and that have not expired. The conditions exclude each other. */
export const NEWER_CERTIFICATES = {
  kept: `SELECT * FROM (${NEWER}) WHERE isRevocable AND licenseId IS NOT NULL ORDER BY id`,
  /** Their licenses are not in the backup. */
  revoked: `SELECT * FROM (${NEWER}) WHERE isRevocable AND licenseId IS NULL AND revoked_at IS NULL
    AND serial_number NOT IN (${LISTED_IN_BACKUP}) ORDER BY id`,
  /** Of another authority than the one that signs CRLs after the restore. */
  irrevocable: `SELECT * FROM (${NEWER}) WHERE NOT isRevocable ORDER BY id`,
};

/** Of certificates without a row in the restored database. Restores of earlier versions have repeated some. */
const ORPHANED_ENTRIES = `
  SELECT e.authority_key AS "authorityKey", e.not_after AS "notAfter", e.der_hex AS "derHex", e.json AS "json"
  FROM present.revocation_entries AS e LEFT JOIN present.certificates AS p ON p.id = e.certificate_id
    LEFT JOIN present.licenses AS l ON l.id = p.license_id
  WHERE e.not_after > $now AND e.authority_key IS ${RESTORED_AUTHORITY}
    AND (p.id IS NULL OR l.license_key NOT IN (SELECT license_key FROM main.licenses))
    AND e.json ->> '$.serial_number' NOT IN (SELECT serial_number FROM main.certificates)
    AND e.json ->> '$.serial_number' NOT IN (${LISTED_IN_BACKUP})
  GROUP BY e.json ->> '$.serial_number' ORDER BY min(e.id)`;

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

/** Good in the restored database. */
const REVOKED_IN_PRESENT = `
  present.certificates AS p
    JOIN present.revocation_entries AS e ON e.certificate_id = p.id
    JOIN main.certificates AS r ON r.serial_number = p.serial_number
  WHERE p.revoked_at IS NOT NULL AND r.revoked_at IS NULL`;
/** Trusted in the restored database. */
const DISTRUSTED_IN_PRESENT = `
  present.signing_keys AS p JOIN main.signing_keys AS r ON r.key_id = p.key_id
  WHERE p.distrusted_at IS NOT NULL AND r.distrusted_at IS NULL`;

/** Key of the authority that is active in the current database. */
const ACTIVE_AUTHORITY = `
  SELECT key_identifier AS "name" FROM present.certificate_authorities WHERE status = 'active'`;
/**
 * The same if the restored database does not get it, and it matters: any request for a CRL makes an authority where there is
 * none.
 */
const LOST_AUTHORITY = `
  SELECT key_identifier FROM present.certificate_authorities AS p
  WHERE status = 'active' AND key_identifier IS NOT ${RESTORED_AUTHORITY} AND key_identifier IS NOT $authority
    AND (origin = 'imported' OR EXISTS (SELECT 1 FROM present.certificates AS c WHERE c.authority_key = p.key_identifier))`;

const ENDED = {
  certificates: `SELECT r.serial_number AS "name" FROM ${REVOKED_IN_PRESENT}`,
  signing_keys: `SELECT r.key_id AS "name" FROM ${DISTRUSTED_IN_PRESENT}`,
};

const REVOKED_SINCE = `
  SELECT r.id AS "certificateId", r.authority_key AS "authorityKey", r.not_after AS "notAfter",
    p.revoked_at AS "revokedAt", p.revoke_reason AS "revokeReason", e.der_hex AS "derHex", e.json AS "json"
  FROM ${REVOKED_IN_PRESENT} AND r.serial_number NOT IN (SELECT value FROM json_each($ended)) ORDER BY p.id`;
const DISTRUSTED_SINCE = `
  SELECT r.key_id AS "keyId", p.distrust_reason AS "reason"
  FROM ${DISTRUSTED_IN_PRESENT} AND r.key_id NOT IN (SELECT value FROM json_each($ended)) ORDER BY p.id`;

/** An entry of the CRL; both are null unless the certificate is revoked. */
interface Entry {
  derHex: string | null;
  json: string | null;
}

interface CompleteEntry {
  authorityKey: string;
  notAfter: number;
  derHex: string;
  json: string;
}

interface RevokedSince extends CompleteEntry {
  /** In the restored database. */
  certificateId: number;
  revokedAt: number;
  revokeReason: RevocationReason;
}

/** What is good in a backup and had ended when its restore was previewed: the restore brings it back. */
export interface Ended {
  /** Serial numbers of revoked ones. */
  certificates: string[];
  /** IDs of distrusted ones. */
  signing_keys: string[];
  /** Key of the authority that was active then; null if there was none. Earlier versions have not recorded it. */
  authority?: string | null | undefined;
}

/** What a restored database lacks, and needs. */
export interface NewerObjects {
  authorities: Omit<AuthorityRow, 'id'>[];
  signingKeys: Omit<SigningKeyRow, 'id' | 'status'>[];
  /** With the licenses that they have in the restored database. */
  kept: { id: number; licenseId: number }[];
  /** Certificates that the restore revokes. */
  revoked: { id: number }[];
  orphanedEntries: CompleteEntry[];
  /** Certificates and signing keys of the restored database that have ended since its preview. */
  revokedSince: RevokedSince[];
  distrusted: { keyId: string; reason: string | null }[];
}

type All = <Row extends object>(sql: string, values?: Values) => Promise<Row[]>;

/** @throws NotReplacedError */
async function ofPresent<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NotReplacedError) throw error;
    throw new NotReplacedError(
      `the current database cannot be read, so its newest certificates and signing keys cannot be kept: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/**
 * Reads both databases. Nothing else may write to the restored one meanwhile.
 * @throws NotReplacedError if the current one cannot be read
 */
export async function onBoth<Result>(
  restored: string,
  presentFile: string,
  read: (all: All) => Promise<Result>,
): Promise<Result> {
  const database = await openUnchanging(restored);
  try {
    await ofPresent(database.all('ATTACH $uri AS present', { uri: unchangingUri(presentFile) }));
    return await ofPresent(read((sql, values) => database.all(sql, values)));
  } finally {
    await database.close();
  }
}

/** The current database has this version's schema. */
export const findEnded = (restored: string, presentFile: string): Promise<Ended> =>
  onBoth(restored, presentFile, async (all) => {
    const names = async (sql: string) => (await all<{ name: string }>(sql)).map(({ name }) => name);
    return {
      certificates: await names(ENDED.certificates),
      signing_keys: await names(ENDED.signing_keys),
      authority: (await names(ACTIVE_AUTHORITY))[0] ?? null,
    };
  });

/** No CRL could revoke its certificates after the restore, and the preview has not named them. @throws NotReplacedError */
async function requireSameAuthority(all: All, { authority }: Ended): Promise<void> {
  if (authority === undefined || (await all(LOST_AUTHORITY, { authority })).length === 0) return;
  throw new NotReplacedError(
    'the certificate authority was replaced after the preview of the restore, which would not keep the new one; preview the backup again',
  );
}

/** As `findNewerObjects`. */
export const requireKnownAuthority = (restored: string, presentFile: string, ended: Ended): Promise<void> =>
  onBoth(restored, presentFile, (all) => requireSameAuthority(all, ended));

/**
 * @param ended null before the restore is confirmed
 * @throws NotReplacedError also if the authority was replaced since the preview
 */
export const findNewerObjects = (
  restored: string,
  presentFile: string,
  { now, ended = null }: { now: number; ended?: Ended | null },
): Promise<NewerObjects> =>
  onBoth(restored, presentFile, async (all) => {
    if (ended) await requireSameAuthority(all, ended);
    const distrust = (await all(KNOWS_DISTRUST)).length === 0 ? NO_DISTRUST : DISTRUST;
    return {
      authorities: await all(AUTHORITIES),
      signingKeys: await all(SIGNING_KEYS(distrust)),
      kept: await all(NEWER_CERTIFICATES.kept, { now }),
      revoked: await all(NEWER_CERTIFICATES.revoked, { now }),
      orphanedEntries: await all(ORPHANED_ENTRIES, { now }),
      revokedSince: ended ? await all(REVOKED_SINCE, { ended: ended.certificates }) : [],
      distrusted: ended ? await all(DISTRUSTED_SINCE, { ended: ended.signing_keys }) : [],
    };
  });

async function* readRows(database: SqliteFile, ids: readonly number[]) {
  for (let start = 0; start < ids.length; start += ROWS_AT_ONCE) {
    const values = { ids: ids.slice(start, start + ROWS_AT_ONCE) };
    yield* await ofPresent(database.all<CertificateRow & Entry>(CERTIFICATES, values));
  }
}

/**
 * @param ids from `findNewerObjects`; a certificate that has since gone is left out
 * @throws NotReplacedError if the database cannot be read
 */
export async function* readCertificates(presentFile: string, ids: readonly number[]) {
  const database = await ofPresent(openUnchanging(presentFile));
  try {
    yield* readRows(database, ids);
  } finally {
    await database.close();
  }
}
