// SQL for licenses: their columns, and conditions for state, plan, product and expiry. Runs on both databases.
import { GRACE_ENDS_AT, LONGEST_GRACE_MS } from '#server/database/grace-period.ts';
import type { Condition } from '#server/database/condition.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { EXPIRING_MS, type LicenseState } from '#server/rules/license-lifecycle.ts';

export const LICENSE_COLUMNS = `
  l.id AS "id", l.license_key AS "licenseKey", l.holder AS "holder", l.email AS "email",
  l.order_number AS "orderNumber", l.notes AS "notes", l.custom_fields AS "customFields", l.product AS "product",
  l.plan_id AS "planId", l.issued_at AS "issuedAt", l.expires_at AS "expiresAt",
  l.first_activated_at AS "firstActivatedAt", l.revoked_at AS "revokedAt", l.revoke_reason AS "revokeReason",
  l.term AS "term", l.notice_due_at AS "noticeDueAt",
  p.name AS "plan", p.tier AS "tier", p.duration_days AS "durationDays", p.grace_days AS "graceDays",
  l.own_seats AS "ownSeats", l.own_overdraft_seats AS "ownOverdraftSeats",
  l.own_borrow_max_hours AS "ownBorrowMaxHours", l.own_borrow_max_count AS "ownBorrowMaxCount",
  l.own_borrow_keep_free AS "ownBorrowKeepFree",
  p.licensing AS "licensing", p.seats AS "seats", p.lease_seconds AS "leaseSeconds", p.count_by AS "countBy",
  p.overdraft_seats AS "overdraftSeats", p.borrow_max_hours AS "borrowMaxHours",
  p.borrow_max_count AS "borrowMaxCount", p.borrow_keep_free AS "borrowKeepFree",
  p.linger_seconds AS "lingerSeconds",
  p.max_activations AS "maxActivations", p.features AS "features",
  (SELECT count(*) FROM activations a WHERE a.license_id = l.id AND a.released_at IS NULL) AS "activationCount",
  (SELECT a.machine_fingerprint FROM activations a WHERE a.license_id = l.id AND a.released_at IS NULL
   ORDER BY a.id DESC LIMIT 1) AS "newestFingerprint"`;

/** In a list: the seats that leases hold, null unless the license is floating. */
export const LISTED_COLUMNS = `${LICENSE_COLUMNS},
  CASE WHEN p.licensing = 'floating'
    THEN coalesce((SELECT o.in_use FROM lease_pools o WHERE o.license_id = l.id), 0) END AS "seatsInUse"`;

export const LICENSE_TABLES = 'licenses l JOIN plans p ON p.id = l.plan_id';

/** The state of a license in SQL, by the same rules as `licenseState`. */
export const LICENSE_STATE = `CASE
  WHEN l.revoked_at IS NOT NULL THEN 'revoked'
  WHEN ${GRACE_ENDS_AT} <= $now THEN 'expired'
  WHEN l.expires_at <= $now THEN 'in_grace'
  WHEN l.expires_at - ${EXPIRING_MS} < $now THEN 'expiring'
  WHEN l.first_activated_at IS NULL THEN 'issued'
  ELSE 'active' END`;

/** In a condition that needs no other column of the plan. */
const GRACE_IS_OVER = `(SELECT ${GRACE_ENDS_AT} FROM plans p WHERE p.id = l.plan_id) <= $now`;

/** The same rules as conditions per state, with ranges of `expires_at` for the index. */
const STATE_CONDITIONS: Record<LicenseState, string> = {
  revoked: 'l.revoked_at IS NOT NULL',
  expired: `l.revoked_at IS NULL AND l.expires_at <= $now
    AND (l.expires_at <= $now - ${LONGEST_GRACE_MS} OR ${GRACE_IS_OVER})`,
  in_grace: `l.revoked_at IS NULL AND l.expires_at <= $now AND l.expires_at > $now - ${LONGEST_GRACE_MS}
    AND NOT (${GRACE_IS_OVER})`,
  expiring: 'l.revoked_at IS NULL AND l.expires_at > $now AND l.expires_at < $soon',
  issued: 'l.revoked_at IS NULL AND l.expires_at >= $soon AND l.first_activated_at IS NULL',
  active: 'l.revoked_at IS NULL AND l.expires_at >= $soon AND l.first_activated_at IS NOT NULL',
};

/** Filters of a list of licenses. */
export interface LicenseFilter {
  state?: LicenseState | undefined;
  search?: string | undefined;
  /** By name. */
  plan?: string | undefined;
  product?: string | undefined;
  /** Expiring between now and then; revoked licenses only if `state` asks for them. */
  expiresWithinDays?: number | undefined;
  now: number;
}

/** The filter's range of `expires_at` if it is bounded on both sides; otherwise null. */
export function termRange({ state, expiresWithinDays, now }: LicenseFilter): Condition | null {
  if (state === 'in_grace')
    return { sql: `l.expires_at <= $now AND l.expires_at > $now - ${LONGEST_GRACE_MS}`, bind: { now } };
  const ends = [
    ...(state === 'expiring' ? [now + EXPIRING_MS] : []),
    ...(expiresWithinDays === undefined ? [] : [now + expiresWithinDays * DAY_MS]),
  ];
  if (ends.length === 0) return null;
  return { sql: 'l.expires_at > $now AND l.expires_at <= $last', bind: { now, last: Math.min(...ends) } };
}

/** All filters except the search, as conditions on `l`. */
export function facetConditions({
  state,
  plan,
  product,
  expiresWithinDays,
  now,
}: LicenseFilter): Condition[] {
  return [
    ...(state === undefined
      ? []
      : [{ sql: STATE_CONDITIONS[state], bind: { now, soon: now + EXPIRING_MS } }]),
    ...(plan === undefined
      ? []
      : [{ sql: 'l.plan_id = (SELECT n.id FROM plans n WHERE n.name = $plan)', bind: { plan } }]),
    ...(product === undefined ? [] : [{ sql: 'l.product = $product', bind: { product } }]),
    ...(expiresWithinDays === undefined
      ? []
      : [
          {
            sql: `l.expires_at > $now AND l.expires_at <= $until${state === undefined ? ' AND l.revoked_at IS NULL' : ''}`,
            bind: { now, until: now + expiresWithinDays * DAY_MS },
          },
        ]),
  ];
}
