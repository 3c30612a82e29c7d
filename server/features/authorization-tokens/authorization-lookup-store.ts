// The most frequent reads. Calls that arrive together share one statement, without ORM work per call.
import type { Sequelize } from 'sequelize';
import { GRACE_ENDS_AT } from '#server/database/grace-period.ts';
import type { Lookup } from '#server/database/batched-lookup.ts';
import type { WatchedTable } from '#server/database/changed-rows.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { Licensing } from '#server/rules/floating-terms.ts';

/** The facts that decide whether a token is valid. Times are epoch milliseconds. */
export interface TokenFacts {
  tokenId: number;
  licenseId: number;
  product: string;
  status: string;
  expiresAt: number;
  lastUsedAt: number | null;
  licenseRevokedAt: number | null;
  licenseGraceEndsAt: number;
}

/** The facts that decide whether a license is authorized and appear in the reply. Times are epoch milliseconds. */
export interface LicenseFacts {
  licenseId: number;
  product: string;
  plan: string;
  /** JSON list. */
  features: string;
  licensing: Licensing;
  firstActivatedAt: number | null;
  revokedAt: number | null;
  expiresAt: number;
  graceEndsAt: number;
  /** The activation of the given device; null if it is not active. */
  activationId: number | null;
  /** When the device was last seen. */
  lastSeenAt: number | null;
}

export interface LicenseQuestion {
  /** In canonical form. */
  licenseKey: string;
  machineFingerprint: string | undefined;
}

const TOKEN: Lookup<string> = {
  columns: `
    t.id AS "tokenId", t.license_id AS "licenseId", t.product AS "product", t.status AS "status",
    t.expires_at AS "expiresAt", t.last_used_at AS "lastUsedAt", l.revoked_at AS "licenseRevokedAt",
    ${GRACE_ENDS_AT} AS "licenseGraceEndsAt"`,
  from: `
    authorization_tokens t
    JOIN licenses l ON l.id = t.license_id
    JOIN plans p ON p.id = l.plan_id
    WHERE t.token_hash = $tokenHash`,
  values: (tokenHash) => ({ tokenHash }),
};

const LICENSE: Lookup<LicenseQuestion> = {
  columns: `
    l.id AS "licenseId", l.product AS "product", p.name AS "plan", p.features AS "features",
    p.licensing AS "licensing", l.first_activated_at AS "firstActivatedAt", l.revoked_at AS "revokedAt", l.expires_at AS "expiresAt",
    ${GRACE_ENDS_AT} AS "graceEndsAt",
    a.id AS "activationId", a.last_seen_at AS "lastSeenAt"`,
  from: `
    licenses l
    JOIN plans p ON p.id = l.plan_id
    LEFT JOIN activations a
      ON a.license_id = l.id AND a.machine_fingerprint = $fingerprint AND a.released_at IS NULL
    WHERE l.license_key = $licenseKey`,
  values: ({ licenseKey, machineFingerprint }) => ({ licenseKey, fingerprint: machineFingerprint ?? null }),
};

/** Everything that the two statements read, except last uses, which affect no answer. */
export const AUTHORIZATION_SOURCES: readonly WatchedTable[] = [
  {
    table: 'authorization_tokens',
    key: 'license_id',
    columns: ['token_hash', 'license_id', 'product', 'status', 'expires_at'],
    // Only facts that were found are kept, so new tokens and licenses change none of them.
    inserts: false,
  },
  {
    table: 'licenses',
    key: 'id',
    columns: ['license_key', 'product', 'plan_id', 'first_activated_at', 'revoked_at', 'expires_at'],
    inserts: false,
  },
  {
    table: 'activations',
    key: 'license_id',
    columns: ['license_id', 'machine_fingerprint', 'released_at'],
    inserts: true,
  },
  { table: 'plans', key: null, columns: ['name', 'features', 'licensing', 'grace_days'], inserts: false },
];

export function createAuthorizationLookupStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    /** @param tokenHash lower-case hex SHA-256 of the token */
    findToken: sql.batched<string, TokenFacts>(TOKEN),
    findLicense: sql.batched<LicenseQuestion, LicenseFacts>(LICENSE),
  };
}

export type AuthorizationLookupStore = ReturnType<typeof createAuthorizationLookupStore>;
