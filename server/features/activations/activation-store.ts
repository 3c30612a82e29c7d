import type { Sequelize } from 'sequelize';
import type { Lookup } from '#server/database/batched-lookup.ts';
import { allOf, given } from '#server/database/condition.ts';
import { sqlOf } from '#server/database/sql.ts';
import { type ActivationRow, defineActivation } from './activation-model.ts';

export type Activation = ActivationRow;

const COLUMNS = `
  id AS "id", license_id AS "licenseId", machine_fingerprint AS "machineFingerprint",
    machine_name AS "machineName", platform AS "platform", app_version AS "appVersion",
    activated_at AS "activatedAt", released_at AS "releasedAt", signing_key_id AS "signingKeyId",
    last_seen_at AS "lastSeenAt", replaces_id AS "replacesId"
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
  INSERT INTO unbound_license_files (license_id, signing_key_id, issued_at) VALUES ($licenseId, $signingKeyId, $issuedAt)
  ON CONFLICT (license_id) DO UPDATE SET signing_key_id = excluded.signing_key_id, issued_at = excluded.issued_at`;
/** Enough for the alert text; no count reads more rows than this. */
const MAX_COUNTED = 10_000;
const COUNT_NEWEST = `
  SELECT count(*) AS "count" FROM (
    SELECT activated_at FROM activations WHERE license_id = $licenseId ORDER BY id DESC LIMIT ${MAX_COUNTED}
  ) newest WHERE activated_at >= $since`;
const FIND_SURGES = `
  SELECT license_id AS "licenseId", count(*) AS "count" FROM activations
  WHERE activated_at >= $since GROUP BY license_id HAVING count(*) > $moreThan`;

const IDS_AT_ONCE = 500;

export function createActivationStore(sequelize: Sequelize) {
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
  // Another server may have written a later time.
  const seen = sql.statement(`
    UPDATE activations SET last_seen_at = $now
    WHERE ${sql.dialect.isIn('id', 'some')} AND (last_seen_at IS NULL OR last_seen_at < $now)`);
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
      return { ...activation, id: await insert(activation) };
    },
    release: (id: number, releasedAt: number): Promise<void> => update(id, { releasedAt }),
    /** Records which key signed the newest license file of a device. */
    recordSigningKey: (id: number, signingKeyId: number): Promise<void> => update(id, { signingKeyId }),
    /** The same for a file that is not bound to a device. @param issuedAt epoch milliseconds */
    async recordUnboundFile(licenseId: number, signingKeyId: number, issuedAt: number): Promise<void> {
      await unboundFile.run({ licenseId, signingKeyId, issuedAt });
    },
    /** @param ids in ascending order */
    async markSeen(ids: readonly number[], now: number): Promise<void> {
      for (let start = 0; start < ids.length; start += IDS_AT_ONCE)
        await seen.run({ some: ids.slice(start, start + IDS_AT_ONCE), now });
    },
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
