// License files signed by a key: for devices, and for licenses with a file that is not bound to a device.
import type { Sequelize } from 'sequelize';
import { cursorOf, NUMBER } from '#server/database/cursor.ts';
import { toPage } from '#server/database/page.ts';
import { sqlOf } from '#server/database/sql.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { FileToReissue } from './signing-contract.ts';
import type { SigningKeyRow } from './signing-key-model.ts';

interface ReissueRow {
  licenseId: number;
  /** 0 for a file that is not bound to a device. */
  activationId: number;
  machineFingerprint: string | null;
  machineName: string | null;
  /** Time of the activation, or of the issue of an unbound file; epoch milliseconds. */
  since: number;
  isRecorded: number;
  licenseKey: string;
  holder: string;
  product: string;
  expiresAt: number;
}

/** Files of revoked or expired licenses need no replacement. */
const USABLE = `l.revoked_at IS NULL AND l.expires_at + p.grace_days * ${DAY_MS} > $now`;

/**
 * Activations from before keys were recorded count if they are older than the key's retirement. A device activated
 * under an earlier key may have received a new file since.
 */
const DEVICES = `
  FROM activations a JOIN licenses l ON l.id = a.license_id JOIN plans p ON p.id = l.plan_id
  WHERE a.released_at IS NULL AND ${USABLE}
    AND (a.signing_key_id = $keyId OR (a.signing_key_id IS NULL AND a.activated_at <= $retiredAt))`;

const UNBOUND = `
  FROM unbound_license_files u JOIN licenses l ON l.id = u.license_id JOIN plans p ON p.id = l.plan_id
  WHERE u.signing_key_id = $keyId AND ${USABLE}`;

const LICENSE = `l.license_key AS "licenseKey", l.holder AS "holder", l.product AS "product",
  l.expires_at AS "expiresAt"`;

const LIST = `
  SELECT * FROM (
    SELECT a.license_id AS "licenseId", a.id AS "activationId", a.machine_fingerprint AS "machineFingerprint",
      a.machine_name AS "machineName", a.activated_at AS "since",
      CASE WHEN a.signing_key_id IS NULL THEN 0 ELSE 1 END AS "isRecorded", ${LICENSE}
    ${DEVICES} AND (a.license_id > $licenseId OR (a.license_id = $licenseId AND a.id > $activationId))
    UNION ALL
    SELECT u.license_id, 0, NULL, NULL, u.issued_at, 1, ${LICENSE}
    ${UNBOUND} AND (u.license_id > $licenseId)
  ) files ORDER BY "licenseId", "activationId" LIMIT $limit`;

const COUNT = `SELECT (SELECT count(*) ${DEVICES}) + (SELECT count(*) ${UNBOUND}) AS "count"`;

interface ReissuePage {
  cursor: string | undefined;
  limit: number;
  /** Epoch milliseconds. */
  now: number;
}

/** Each page ends with a device, or with 0 for an unbound file. */
const CURSOR = cursorOf({ licenseId: NUMBER, activationId: NUMBER }, 'is not one that a page returned');
const FIRST = { licenseId: 0, activationId: 0 };

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
  };
}

export type ReissueStore = ReturnType<typeof createReissueStore>;
