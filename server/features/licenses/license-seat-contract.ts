// The seat limits of a floating license: those in force, and what the license overrides of its plan.
import { z } from 'zod';
import { SEAT_LIMIT_MEANINGS, seatLimits } from '#server/features/plans/plan-contract.ts';
import { COUNT_BY, SEAT_LIMITS } from '#server/rules/floating-terms.ts';

function ownLimit<Limit extends z.ZodType>(name: keyof typeof SEAT_LIMIT_MEANINGS, limit: Limit) {
  const description = `${SEAT_LIMIT_MEANINGS[name]}. Null takes the value of the plan.`;
  return limit.optional().meta({ description });
}

/** What a license overrides of its plan's seat limits. */
export const ownSeatLimits = {
  seats: ownLimit('seats', seatLimits.seats),
  overdraft_seats: ownLimit('overdraft_seats', seatLimits.overdraft_seats.nullable()),
  borrow_max_hours: ownLimit('borrow_max_hours', seatLimits.borrow_max_hours.nullable()),
  borrow_max_count: ownLimit('borrow_max_count', seatLimits.borrow_max_count),
  borrow_keep_free: ownLimit('borrow_keep_free', seatLimits.borrow_keep_free.nullable()),
};

export const seatLimitsInForce = z
  .object({
    seats: z.int().nullable(),
    overdraft_seats: z.int(),
    borrow_max_hours: z.int(),
    borrow_max_count: z.int().nullable(),
    borrow_keep_free: z.int(),
    lease_seconds: z.int(),
    count_by: z.enum(COUNT_BY),
    linger_seconds: z.int(),
    overridden: z.array(z.enum(SEAT_LIMITS)).meta({ description: 'The limits that the license overrides.' }),
  })
  .nullable()
  .meta({ description: 'The limits in force; null unless the license is floating.' });
