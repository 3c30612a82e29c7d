// The seat limits of a floating license: those in force, and what the license overrides of its plan.
import { z } from 'zod';
import { seatLimits } from '#server/features/plans/plan-contract.ts';
import { COUNT_BY, SEAT_LIMITS } from '#server/rules/floating-terms.ts';

/** Null means another thing than for a plan, whose `seats` it makes unlimited. */
function ownLimit<Limit extends z.ZodType>(limit: Limit, meaning: string) {
  return limit.optional().meta({ description: `${meaning} Null takes the value of the plan.` });
}

/** What a license overrides of its plan's seat limits. */
export const ownSeatLimits = {
  seats: ownLimit(seatLimits.seats, 'Seats of a floating license.'),
  overdraft_seats: ownLimit(
    seatLimits.overdraft_seats.nullable(),
    'Seats that can be taken beyond `seats`. They are reported as overdraft.',
  ),
  borrow_max_hours: ownLimit(
    seatLimits.borrow_max_hours.nullable(),
    'How long a seat can be borrowed. 0: borrowing is not allowed.',
  ),
  borrow_max_count: ownLimit(seatLimits.borrow_max_count, 'Seats that can be borrowed at once.'),
  borrow_keep_free: ownLimit(seatLimits.borrow_keep_free.nullable(), 'Seats that are never borrowed.'),
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
