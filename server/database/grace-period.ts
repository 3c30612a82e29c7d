// The grace period in SQL, by the same rule as `graceEndsAt`. Both operands are BIGINT.
import { DAY_MS } from '#server/wire/instants.ts';

/** Of the license `l`, whose plan is `p`. */
export const GRACE_ENDS_AT = `(l.expires_at + p.grace_days * ${DAY_MS})`;

/** The longest of all plans, in milliseconds. A license whose term ended earlier is expired on any plan. */
export const LONGEST_GRACE = `((SELECT coalesce(max(g.grace_days), 0) FROM plans g) * ${DAY_MS})`;
