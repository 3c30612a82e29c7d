import type { Sequelize } from 'sequelize';
import type { Lookup } from '#server/database/batched-lookup.ts';
import { allOf, given } from '#server/database/condition.ts';
import { afterCommit } from '#server/database/current-transaction.ts';
import { sqlOf } from '#server/database/sql.ts';
import { touchRecorder } from '#server/database/touch-buffer.ts';
import { type ActivationRow, defineActivation } from './activation-model.ts';

export interface Activation extends ActivationRow {
  /** How many earlier license files of the device are under keys that are distrusted now. */
  distrustedFiles: number;
}

/** Whether another file under the key changes nothing of what is recorded. */
export const isOnRecord = (activation: Activation, signingKeyId: number): boolean =>
  activation.signingKeyId === signingKeyId && activation.distrustedFiles === 0;

const COLUMNS = `
  id AS "id", license_id AS "licenseId", machine_fingerprint AS "machineFingerprint",
    machine_name AS "machineName", platform AS "platform", app_version AS "appVersion",
    activated_at AS "activatedAt", released_at AS "releasedAt", signing_key_id AS "signingKeyId",
    last_seen_at AS "lastSeenAt", replaces_id AS "replacesId", (
      SELECT count(*) FROM earlier_license_files f JOIN signing_keys k ON k.id = f.signing_key_id
      WHERE f.license_id = activations.license_id AND f.activation_id = activations.id
        AND k.distrusted_at IS NOT NULL) AS "distrustedFiles"
`;
const LIVE =
  'activations WHERE machine_fingerprint = $machineFingerprint AND released_at IS NULL AND license_id';
const FIND_LIVE = `SELECT ${COLUMNS} FROM ${LIVE} = $licenseId`;
const FIND_NEWEST = `
  SELECT ${COLUMNS} FROM activations
  WHERE license_id = $licenseId AND machine_fingerprint = $machineFingerprint ORDER BY id DESC LIMIT 1`;
const FIND_SUCCESSOR = `SELECT ${COLUMNS} FROM activations WHERE replaces_id = $id`;

const LIST_CONDITIONS = { licenseId: 'license_id = $licenseId', before: 'id < $before' };

interface DeviceQuestion {
  /** In canonical form. */
  licenseKey: string;
  machineFingerprint: string;
}

const LIVE_BY_KEY: Lookup<DeviceQuestion> = {
  columns: COLUMNS,
  from: `${LIVE} = (SELECT id FROM licenses WHERE license_key = $licenseKey)`,
  values: ({ licenseKey, machineFingerprint }) => ({ licenseKey, machineFingerprint }),
};

const RECORD_UNBOUND_FILE = `
  INSERT INTO unbound_license_files (license_id, signing_key_id, issued_at) VALUES ($licenseId, $signingKeyId, $now)
  ON CONFLICT (license_id) DO UPDATE SET signing_key_id = excluded.signing_key_id, issued_at = excluded.issued_at`;

/** As the ID of an activation: a file that is not bound to a device. */
const UNBOUND = 0;

/**
 * A file under another key may never reach the device, so the one before stays on record. One that is issued after a
 * distrust is meant to replace the distrusted ones.
 */
const KEEP_EARLIER = `
  INSERT INTO earlier_license_files (license_id, activation_id, signing_key_id, issued_at, replaced_at, recorded)`;
const IF_TRUSTED = 'k.id <> $signingKeyId AND k.distrusted_at IS NULL ON CONFLICT DO NOTHING';
/** As in the list of files to reissue, a key that was not recorded is inferred from the time of the activation. */
const KEEP_DEVICE_FILE = `${KEEP_EARLIER}
  SELECT a.license_id, a.id, k.id, a.activated_at, $now, CASE WHEN a.signing_key_id IS NULL THEN 0 ELSE 1 END
  FROM activations a
  JOIN signing_keys k ON a.signing_key_id = k.id OR (a.signing_key_id IS NULL AND a.activated_at <= k.retired_at)
  WHERE a.id = $activationId AND ${IF_TRUSTED}`;
const KEEP_UNBOUND_FILE = `${KEEP_EARLIER}
  SELECT u.license_id, ${UNBOUND}, k.id, u.issued_at, $now, 1
  FROM unbound_license_files u JOIN signing_keys k ON k.id = u.signing_key_id
  WHERE u.license_id = $licenseId AND ${IF_TRUSTED}`;
const FORGET_REPLACED = `
  DELETE FROM earlier_license_files WHERE license_id = $licenseId AND activation_id = $activationId
    AND (signing_key_id = $signingKeyId OR signing_key_id IN (SELECT id FROM signing_keys WHERE distrusted_at IS NOT NULL))`;

/** Enough for the alert text; no count reads more rows than this. */
const MAX_COUNTED = 10_000;
const COUNT_NEWEST = `
  SELECT count(*) AS "count" FROM (
    SELECT activated_at FROM activations WHERE license_id = $licenseId ORDER BY id DESC LIMIT ${MAX_COUNTED}
  ) newest WHERE activated_at >= $since`;
const FIND_SURGES = `
  SELECT license_id AS "licenseId", count(*) AS "count" FROM activations
  WHERE activated_at >= $since GROUP BY license_id HAVING count(*) > $moreThan`;

/** @param onFileRecorded called after each commit of a record that a license file was issued */
export function createActivationStore(sequelize: Sequelize, onFileRecorded: () => void) {
  const activations = defineActivation(sequelize);
  const sql = sqlOf(sequelize);
  const insert = sql.insert(activations);
  const update = sql.update(activations);
  const live = sql.statement<Activation>(FIND_LIVE);
  const firstLiveByKey = sql.batchedFirst<DeviceQuestion, Activation>(LIVE_BY_KEY);
  const liveByKey = sql.batched<DeviceQuestion, Activation>(LIVE_BY_KEY);
  const newestOfDevice = sql.statement<Activation>(FIND_NEWEST);
  const successor = sql.statement<Activation>(FIND_SUCCESSOR);
  const newest = sql.statement<{ count: number }>(COUNT_NEWEST);
  const surges = sql.statement<{ licenseId: number; count: number }>(FIND_SURGES);
  const unboundFile = sql.statement(RECORD_UNBOUND_FILE);
  const keepDeviceFile = sql.statement(KEEP_DEVICE_FILE);
  const keepUnboundFile = sql.statement(KEEP_UNBOUND_FILE);
  const forgetReplaced = sql.statement(FORGET_REPLACED);
  return {
    findLive: (licenseId: number, machineFingerprint: string): Promise<Activation | null> =>
      live.first({ licenseId, machineFingerprint }),
    /** The newest activation of a device, which may be released. */
    findNewest: (licenseId: number, machineFingerprint: string): Promise<Activation | null> =>
      newestOfDevice.first({ licenseId, machineFingerprint }),
    /** The activation that took over the seat of another one. */
    findSuccessor: (id: number): Promise<Activation | null> => successor.first({ id }),
    /** Outside transactions: calls that arrive together share one statement. */
    lookUpLive: (licenseKey: string, machineFingerprint: string): Promise<Activation | null> =>
      liveByKey({ licenseKey, machineFingerprint }),
    /** The same as the first read of a change. */
    findLiveFirst: (licenseKey: string, machineFingerprint: string): Promise<Activation | null> =>
      firstLiveByKey({ licenseKey, machineFingerprint }),
    /**
     * How many devices the license has gained since `since` (epoch milliseconds), including released ones; at most
     * 10,000.
     */
    async countNewest(licenseId: number, since: number): Promise<number> {
      return (await newest.first({ licenseId, since }))?.count ?? 0;
    },
    /** Licenses that have gained more than `moreThan` devices since `since` (epoch milliseconds). */
    findSurges: (since: number, moreThan: number) => surges.all({ since, moreThan }),
    async insert(activation: Omit<ActivationRow, 'id'>): Promise<Activation> {
      return { ...activation, id: await insert(activation), distrustedFiles: 0 };
    },
    release: (id: number, releasedAt: number): Promise<void> => update(id, { releasedAt }),
    /** Records which key signed the newest license file of a device. @param now epoch milliseconds */
    async recordFile(activation: Activation, signingKeyId: number, now: number): Promise<void> {
      if (isOnRecord(activation, signingKeyId)) return;
      const { licenseId, id: activationId } = activation;
      await keepDeviceFile.run({ activationId, signingKeyId, now });
      await forgetReplaced.run({ licenseId, activationId, signingKeyId });
      await update(activationId, { signingKeyId });
      afterCommit(onFileRecorded);
    },
    /** The same for a file that is not bound to a device. */
    async recordUnboundFile(licenseId: number, signingKeyId: number, now: number): Promise<void> {
      await keepUnboundFile.run({ licenseId, signingKeyId, now });
      await forgetReplaced.run({ licenseId, activationId: UNBOUND, signingKeyId });
      await unboundFile.run({ licenseId, signingKeyId, now });
      afterCommit(onFileRecorded);
    },
    markSeen: touchRecorder(sql, 'activations', 'last_seen_at'),
    /** Newest first, including released ones. Returns one more than `limit` if there are more. */
    list(licenseId: number, before: number | null, limit: number): Promise<Activation[]> {
      const { sql: where, bind } = allOf(given(LIST_CONDITIONS, { licenseId, before }));
      return sql.select<Activation>(
        `SELECT ${COLUMNS} FROM activations WHERE ${where} ORDER BY id DESC LIMIT $limit`,
        { ...bind, limit: limit + 1 },
      );
    },
  };
}

export type ActivationStore = ReturnType<typeof createActivationStore>;
