// License files signed by a key: for devices, for licenses with a file that is not bound to a device, and for borrowed seats.
import type { Sequelize } from 'sequelize';
import { GRACE_ENDS_AT } from '#server/database/grace-period.ts';
import { cursorOf, NUMBER } from '#server/database/cursor.ts';
import { toPage } from '#server/database/page.ts';
import { sqlOf } from '#server/database/sql.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { FileToReissue } from './signing-contract.ts';
import type { SigningKeyRow } from './signing-key-model.ts';

/** Times are epoch milliseconds. */
interface ReissueRow {
  licenseId: number;
  /** 0 for a file that is not for an activation. */
  activationId: number;
  /** 0 for a file that is not for a borrowed seat. */
  leaseId: number;
  machineFingerprint: string | null;
  machineName: string | null;
  user: string | null;
  host: string | null;
  /** Time of the activation, or of the issue of another file. */
  since: number;
  isRecorded: number;
  /** When a file under a later key was issued. */
  newerAt: number | null;
  borrowedUntil: number | null;
  licenseKey: string;
  holder: string;
  product: string;
  expiresAt: number;
}

/**
 * Activations from before keys were recorded count if they are older than the key's retirement. A device activated
 * under an earlier key may have received a new file since.
 */
const DEVICES = `
  SELECT a.license_id, a.id AS activation_id, 0 AS lease_id, a.activated_at AS since,
    CASE WHEN a.signing_key_id IS NULL THEN 0 ELSE 1 END AS recorded,
    CAST(NULL AS BIGINT) AS newer_at, CAST(NULL AS BIGINT) AS borrowed_until
  FROM activations a
  WHERE a.released_at IS NULL
    AND (a.signing_key_id = $keyId OR (a.signing_key_id IS NULL AND a.activated_at <= $retiredAt))`;

const UNBOUND = `
  SELECT u.license_id, 0, 0, u.issued_at, 1, NULL, NULL FROM unbound_license_files u WHERE u.signing_key_id = $keyId`;

const EARLIER = `
  SELECT f.license_id, f.activation_id, 0, f.issued_at, f.recorded, f.replaced_at, NULL
  FROM earlier_license_files f LEFT JOIN activations a ON a.id = f.activation_id
  WHERE f.signing_key_id = $keyId AND a.released_at IS NULL`;

const BORROWED = `
  SELECT e.license_id, 0, e.id, f.issued_at, 1, (
      SELECT min(n.issued_at) FROM borrowed_lease_files n
      WHERE n.lease_id = f.lease_id AND n.signing_key_id > f.signing_key_id), f.expires_at
  FROM borrowed_lease_files f JOIN leases e ON e.id = f.lease_id
  WHERE f.signing_key_id = $keyId AND f.expires_at > $now AND e.state = 'borrowed'`;

/** Files of revoked or expired licenses need no replacement. */
const FILES = `
  FROM (${[DEVICES, UNBOUND, EARLIER, BORROWED].join(' UNION ALL ')}) files
  JOIN licenses l ON l.id = files.license_id JOIN plans p ON p.id = l.plan_id
  WHERE l.revoked_at IS NULL AND ${GRACE_ENDS_AT} > $now`;

const LIST = `
  SELECT page.*, a.machine_name AS "machineName", e.user_name AS "user", e.host AS "host",
    coalesce(a.machine_fingerprint, e.machine_fingerprint) AS "machineFingerprint"
  FROM (
    SELECT files.license_id AS "licenseId", files.activation_id AS "activationId", files.lease_id AS "leaseId",
      files.since AS "since", files.recorded AS "isRecorded", files.newer_at AS "newerAt",
      files.borrowed_until AS "borrowedUntil", l.license_key AS "licenseKey", l.holder AS "holder",
      l.product AS "product", l.expires_at AS "expiresAt"
    ${FILES} AND (files.license_id, files.activation_id, files.lease_id) > ($licenseId, $activationId, $leaseId)
    ORDER BY 1, 2, 3 LIMIT $limit
  ) page
  LEFT JOIN activations a ON a.id = page."activationId" LEFT JOIN leases e ON e.id = page."leaseId"
  ORDER BY page."licenseId", page."activationId", page."leaseId"`;

const COUNT = `SELECT count(*) AS "count" ${FILES}`;

interface ReissuePage {
  cursor: string | undefined;
  limit: number;
  /** Epoch milliseconds. */
  now: number;
}

const CURSOR = cursorOf(
  { licenseId: NUMBER, activationId: NUMBER, leaseId: NUMBER },
  'is not one that a page returned',
);
const FIRST = { licenseId: 0, activationId: 0, leaseId: 0 };

export function createReissueStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const bindOf = ({ id, retiredAt }: SigningKeyRow, now: number) => ({
    keyId: id,
    retiredAt: retiredAt ?? now,
    now,
  });
  return {
    async count(key: SigningKeyRow, now: number): Promise<number> {
      return (await sql.selectFirst<{ count: number }>(COUNT, bindOf(key, now)))?.count ?? 0;
    },
    /** By license. Returns one more than `limit` if there are more. */
    list(key: SigningKeyRow, { cursor, limit, now }: ReissuePage): Promise<ReissueRow[]> {
      return sql.select(LIST, { ...bindOf(key, now), ...(CURSOR.read(cursor) ?? FIRST), limit: limit + 1 });
    },
  };
}

/** @param rows up to `limit` + 1 rows */
export function toReissuePage(rows: readonly ReissueRow[], limit: number) {
  return toPage(rows, limit, toFileToReissue, CURSOR.write);
}

function toFileToReissue(row: ReissueRow): FileToReissue {
  return {
    license_id: row.licenseId,
    license_key: row.licenseKey,
    holder: row.holder,
    product: row.product,
    expires_at: toTimestamp(row.expiresAt),
    machine_fingerprint: row.machineFingerprint,
    machine_name: row.machineName,
    since: toTimestamp(row.since),
    recorded: row.isRecorded === 1,
    newer_file_at: toTimestampOrNull(row.newerAt),
    lease_id: row.leaseId === 0 ? null : row.leaseId,
    user: row.user,
    host: row.host,
    borrowed_until: toTimestampOrNull(row.borrowedUntil),
  };
}

export type ReissueStore = ReturnType<typeof createReissueStore>;
