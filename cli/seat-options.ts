// The options for seats of floating licenses, and how they are printed.
import { Option, type Command } from 'commander';
import { COUNT_BY, type CountBy, LICENSINGS, type Licensing } from '#server/rules/floating-terms.ts';
import { counted } from '#server/wire/counted.ts';
import { seats, wholeNumber } from './option-values.ts';

const MAX_SEATS = 1_000_000_000;
const MAX_HOURS = 8760;
const MIN_LEASE_SECONDS = 60;
const DAY_SECONDS = 86_400;

/** A value of a license, or `plan` to take the plan's value again. */
type Own<Value> = Value | 'plan';

export interface SeatOptions {
  licensing?: Licensing;
  seats?: number | 'unlimited';
  leaseSeconds?: number;
  countBy?: CountBy;
  overdraftSeats?: number;
  borrowMaxHours?: number;
  borrowMaxCount?: number | 'unlimited';
  borrowKeepFree?: number;
  lingerSeconds?: number;
}

export interface OwnSeatOptions {
  seats?: Own<number>;
  overdraftSeats?: Own<number>;
  borrowMaxHours?: Own<number>;
  borrowMaxCount?: Own<number>;
  borrowKeepFree?: Own<number>;
}

function ownNumber(least: number, most: number) {
  const parse = wholeNumber(least, most);
  return (text: string): Own<number> => (text === 'plan' ? text : parse(text));
}

/** For a plan. */
export function addSeatOptions(command: Command): Command {
  return command
    .addOption(new Option('--licensing <kind>', 'what takes seats: devices, or leases').choices(LICENSINGS))
    .option('--seats <n>', 'seats of a floating license, or unlimited', seats)
    .option(
      '--lease-seconds <n>',
      'how long a lease lasts without a heartbeat',
      wholeNumber(MIN_LEASE_SECONDS, DAY_SECONDS),
    )
    .addOption(new Option('--count-by <what>', 'what shares one seat').choices(COUNT_BY))
    .option('--overdraft-seats <n>', 'seats that can be taken beyond --seats', wholeNumber(0, MAX_SEATS))
    .option(
      '--borrow-max-hours <n>',
      'how long a seat can be borrowed; 0: not at all',
      wholeNumber(0, MAX_HOURS),
    )
    .option('--borrow-max-count <n>', 'seats that can be borrowed at once, or unlimited', seats)
    .option('--borrow-keep-free <n>', 'seats that are never borrowed', wholeNumber(0, MAX_SEATS))
    .option(
      '--linger-seconds <n>',
      'how long a released seat stays with its holder',
      wholeNumber(0, DAY_SECONDS),
    );
}

/** For a license, which can override its plan. */
export function addOwnSeatOptions(command: Command): Command {
  return command
    .option('--seats <n>', 'seats of a floating license; plan: as the plan says', ownNumber(1, MAX_SEATS))
    .option('--overdraft-seats <n>', 'seats beyond --seats, or plan', ownNumber(0, MAX_SEATS))
    .option('--borrow-max-hours <n>', 'how long a seat can be borrowed, or plan', ownNumber(0, MAX_HOURS))
    .option('--borrow-max-count <n>', 'seats that can be borrowed at once, or plan', ownNumber(0, MAX_SEATS))
    .option('--borrow-keep-free <n>', 'seats that are never borrowed, or plan', ownNumber(0, MAX_SEATS));
}

function orNull(value: number | 'unlimited' | undefined): number | null | undefined {
  return value === 'unlimited' ? null : value;
}

export function seatFields(options: SeatOptions) {
  return {
    licensing: options.licensing,
    seats: orNull(options.seats),
    lease_seconds: options.leaseSeconds,
    count_by: options.countBy,
    overdraft_seats: options.overdraftSeats,
    borrow_max_hours: options.borrowMaxHours,
    borrow_max_count: orNull(options.borrowMaxCount),
    borrow_keep_free: options.borrowKeepFree,
    linger_seconds: options.lingerSeconds,
  };
}

function planOr(value: Own<number> | undefined): number | null | undefined {
  return value === 'plan' ? null : value;
}

export function ownSeatFields(options: OwnSeatOptions) {
  return {
    seats: planOr(options.seats),
    overdraft_seats: planOr(options.overdraftSeats),
    borrow_max_hours: planOr(options.borrowMaxHours),
    borrow_max_count: planOr(options.borrowMaxCount),
    borrow_keep_free: planOr(options.borrowKeepFree),
  };
}

interface ShownSeats {
  seats: number | null;
  lease_seconds: number;
  count_by: CountBy;
  overdraft_seats: number;
  borrow_max_hours: number;
  borrow_max_count: number | null;
  borrow_keep_free: number;
  linger_seconds: number;
}

/** Lines for a block. */
export function seatLines(shown: ShownSeats): [string, string | number][] {
  const { borrow_max_hours: hours, borrow_max_count: most } = shown;
  const borrowing =
    hours === 0
      ? 'not allowed'
      : `up to ${counted(hours, 'hour')}, ${most === null ? 'any number of seats' : counted(most, 'seat')}`;
  return [
    ['Seats', shown.seats ?? 'unlimited'],
    ['Overdraft seats', shown.overdraft_seats],
    ['Lease length', `${shown.lease_seconds} s`],
    ['Counted by', shown.count_by],
    ['Borrowing', borrowing],
    ['Never borrowed', shown.borrow_keep_free],
    ['Linger', `${shown.linger_seconds} s`],
  ];
}
