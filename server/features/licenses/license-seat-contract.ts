// The seat limits of a floating license: those in force, and what the license overrides of its plan.
import { z } from 'zod';
import { seatLimits } from '#server/features/plans/plan-contract.ts';
import { COUNT_BY, SEAT_LIMITS } from '#server/rules/floating-terms.ts';

/** What a license overrides of its plan's seat limits; null takes the plan's value. */
export const ownSeatLimits = {
  seats: seatLimits.seats.optional(),
  overdraft_seats: seatLimits.overdraft_seats.nullable().optional(),
  borrow_max_hours: seatLimits.borrow_max_hours.nullable().optional(),
  borrow_max_count: seatLimits.borrow_max_count.optional(),
  borrow_keep_free: seatLimits.borrow_keep_free.nullable().optional(),
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
