// The SQL of licenses: the columns of one, and what selects them by state or free text. Runs on both databases.
import { EXPIRING_MS } from './license-lifecycle.ts';
import { parseLicenseKey } from './license-key.ts';
import { foldForSearch } from './license-search.ts';

export const LICENSE_COLUMNS = `
  l.id AS "id", l.license_key AS "licenseKey", l.holder AS "holder", l.email AS "email", l.product AS "product",
  l.plan_id AS "planId", l.issued_at AS "issuedAt", l.expires_at AS "expiresAt",
  l.first_activated_at AS "firstActivatedAt", l.revoked_at AS "revokedAt", l.revoke_reason AS "revokeReason",
  l.term AS "term", l.notice_due_at AS "noticeDueAt",
  p.name AS "plan", p.tier AS "tier", p.duration_days AS "durationDays", p.grace_days AS "graceDays",
  p.max_activations AS "maxActivations", p.features AS "features",
  (SELECT count(*) FROM activations a WHERE a.license_id = l.id AND a.released_at IS NULL) AS "activationCount",
  (SELECT a.machine_fingerprint FROM activations a WHERE a.license_id = l.id AND a.released_at IS NULL
   ORDER BY a.id DESC LIMIT 1) AS "newestFingerprint"`;

export const LICENSE_TABLES = 'licenses l JOIN plans p ON p.id = l.plan_id';

export interface Condition {
  sql: string;
  bind: Record<string, unknown>;
}

/** The end of the grace period in SQL; both operands are BIGINT. */
const GRACE_ENDS_AT = '(l.expires_at + p.grace_days * 86400000)';

/** The state of a license as SQL, by the rules of `licenseState`. */
export const LICENSE_STATE = `CASE
  WHEN l.revoked_at IS NOT NULL THEN 'revoked'
  WHEN ${GRACE_ENDS_AT} <= $now THEN 'expired'
  WHEN l.expires_at <= $now THEN 'in_grace'
  WHEN l.expires_at - ${EXPIRING_MS} < $now THEN 'expiring'
  WHEN l.first_activated_at IS NULL THEN 'issued'
  ELSE 'active' END`;

export function stateCondition(state: string, now: number): Condition {
  return { sql: `${LICENSE_STATE} = $state`, bind: { state, now } };
}

/** Of a text that people type: a key, a fingerprint, or a part of holder or e-mail address. */
export function searchCondition(search: string): Condition {
  const key = parseLicenseKey(search);
  if (key !== null) return { sql: 'l.license_key = $search', bind: { search: key } };
  if (/^sha256:[0-9a-f]{64}$/u.test(search)) {
    return {
      sql: 'EXISTS (SELECT 1 FROM activations a WHERE a.license_id = l.id AND a.machine_fingerprint = $search)',
      bind: { search },
    };
  }
  const escaped = foldForSearch(search).replaceAll(/[\\%_]/gu, String.raw`\$&`);
  return {
    sql: String.raw`l.search_text LIKE $search ESCAPE '\' OR l.license_key LIKE $keyPart ESCAPE '\'`,
    bind: { search: `%${escaped}%`, keyPart: `%${escaped.toUpperCase()}%` },
  };
}
