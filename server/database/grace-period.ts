// The end of grace periods in SQL, by the same rule as `graceEndsAt`. All operands are BIGINT.
import { DAY_MS } from '#server/wire/instants.ts';

/** When the grace period of the license `l` with the plan `p` ends. */
export const GRACE_ENDS_AT = `(l.expires_at + p.grace_days * ${DAY_MS})`;

/** The longest grace period of all plans. A license whose term ended longer ago is expired on any plan. */
export const LONGEST_GRACE_MS = `((SELECT coalesce(max(g.grace_days), 0) FROM plans g) * ${DAY_MS})`;
