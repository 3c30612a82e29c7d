// The reads that clients hammer. Calls that arrive together share one statement, without any ORM work per call.
import DataLoader from 'dataloader';
import type { Sequelize } from 'sequelize';
import { preparedSelect, type PreparedSelect } from '../database/prepared-query.ts';
import { toTimestamp } from '../platform/fields.ts';

/** What decides over a license, and what the reply says of it. */
export interface LicenseFacts {
  licenseId: number;
  licenseProduct: string;
  plan: string;
  features: string[];
  firstActivatedAt: number | null;
  revokedAt: number | null;
  expiresAt: number;
  /** The same moment as replies show it, written once. */
  expiresAtTimestamp: string;
  graceEndsAt: number;
}

export interface TokenFacts {
  tokenId: number;
  licenseId: number;
  product: string;
  status: string;
  expiresAt: number;
  /** The same moment as replies show it, written once. */
  expiresAtTimestamp: string;
  lastUsedAt: number | null;
  licenseRevokedAt: number | null;
  licenseGraceEndsAt: number;
}

const MAX_BATCH = 64;

interface BatchedQuery<Row extends { key: string }, Value> {
  select: string;
  /** The condition that selects one key, given the number of its first parameter. */
  match(parameter: number): string;
  /** The parameters of one key. */
  bind(key: string): unknown[];
  present(row: Row): Value;
}

type Selected<Facts> = Omit<Facts, 'expiresAtTimestamp' | 'features'> & { key: string; features: string };

const TOKENS: BatchedQuery<Selected<TokenFacts>, TokenFacts> = {
  select: `
    SELECT t.token_hash AS "key", t.id AS "tokenId", t.license_id AS "licenseId", t.product AS "product",
      t.status AS "status", t.expires_at AS "expiresAt", t.last_used_at AS "lastUsedAt",
      l.revoked_at AS "licenseRevokedAt", l.expires_at + p.grace_days * 86400000 AS "licenseGraceEndsAt"
    FROM authorization_tokens t
    JOIN licenses l ON l.id = t.license_id
    JOIN plans p ON p.id = l.plan_id`,
  match: (parameter) => `t.token_hash = $${parameter}`,
  bind: (key) => [key],
  present: (row) => ({ ...row, expiresAtTimestamp: toTimestamp(row.expiresAt) }),
};

const LICENSES: BatchedQuery<Selected<LicenseFacts>, LicenseFacts> = {
  select: `
    SELECT l.license_key AS "key", l.id AS "licenseId", l.product AS "licenseProduct", p.name AS "plan",
      p.features AS "features", l.first_activated_at AS "firstActivatedAt", l.revoked_at AS "revokedAt",
      l.expires_at AS "expiresAt", l.expires_at + p.grace_days * 86400000 AS "graceEndsAt"
    FROM licenses l
    JOIN plans p ON p.id = l.plan_id`,
  match: (parameter) => `l.license_key = $${parameter}`,
  bind: (key) => [key],
  present: (row) => ({
    ...row,
    features: JSON.parse(row.features) as string[],
    expiresAtTimestamp: toTimestamp(row.expiresAt),
  }),
};

const DEVICES: BatchedQuery<{ key: string }, true> = {
  select: `SELECT a.license_id || ' ' || a.machine_fingerprint AS "key" FROM activations a`,
  match: (parameter) =>
    `a.released_at IS NULL AND a.license_id = $${parameter} AND a.machine_fingerprint = $${parameter + 1}`,
  bind(key) {
    const [licenseId, machineFingerprint] = key.split(' ');
    return [Number(licenseId), machineFingerprint];
  },
  present: () => true,
};

/** The keys, filled up to a power of two with the first, so that few different statements are ever prepared. */
function fillUp(keys: readonly string[]): string[] {
  const size = 2 ** Math.ceil(Math.log2(keys.length));
  return [...keys, ...Array.from<string>({ length: size - keys.length }).fill(keys[0] ?? '')];
}

function toStatement<Row extends { key: string }>(
  query: BatchedQuery<Row, unknown>,
  keys: readonly string[],
) {
  const values: unknown[] = [];
  const matches: string[] = [];
  for (const key of fillUp(keys)) {
    matches.push(`(${query.match(values.length + 1)})`);
    values.push(...query.bind(key));
  }
  return { sql: `${query.select} WHERE ${matches.join(' OR ')}`, values };
}

/**
 * One statement at a time: what is asked for while it runs goes into the next one, so that batches grow with the load
 * and a single call never waits for others.
 */
function batched<Row extends { key: string }, Value>(
  select: PreparedSelect,
  query: BatchedQuery<Row, Value>,
) {
  let running = false;
  const waiting: (() => void)[] = [];

  async function loadAll(keys: readonly string[]): Promise<(Value | null)[]> {
    running = true;
    try {
      const { sql, values } = toStatement(query, keys);
      const found = new Map((await select<Row>(sql, values)).map((row) => [row.key, query.present(row)]));
      return keys.map((key) => found.get(key) ?? null);
    } finally {
      running = false;
      waiting.shift()?.();
    }
  }

  const loader = new DataLoader<string, Value | null>(loadAll, {
    cache: false,
    maxBatchSize: MAX_BATCH,
    batchScheduleFn(run) {
      if (running) waiting.push(run);
      else setImmediate(run);
    },
  });
  return (key: string): Promise<Value | null> => loader.load(key);
}

export function createAuthorizationLookupStore(sequelize: Sequelize) {
  const select = preparedSelect(sequelize);
  return {
    /** @param hash lower-case hex SHA-256 of the token */
    findToken: batched(select, TOKENS),
    /** @param key the license key in its canonical form */
    findLicense: batched(select, LICENSES),
    /** @param key license id and fingerprint with a blank between; true if the device is active */
    findDevice: batched(select, DEVICES),
  };
}

export type AuthorizationLookupStore = ReturnType<typeof createAuthorizationLookupStore>;
