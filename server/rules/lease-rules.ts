// Decides who may take a floating seat: access rules, limits and reservations of one license, in the administrator's
// order.
import type { LeaseRuleType } from './lease-rule-type.ts';
import { compileMatch, type LeaseMatch, type LeaseRequester } from './lease-match.ts';
import { type SeatClass, unitsOnReservations } from './seat-placement.ts';

export interface LeaseRule {
  readonly id: number;
  readonly type: LeaseRuleType;
  readonly match: LeaseMatch;
  /** Seats to reserve, or the most that all matching requesters may hold together; null for `allow` and `deny`. */
  readonly units: number | null;
}

/** Seats that one requester holds. */
export interface LeaseHolder extends LeaseRequester {
  readonly units: number;
}

export interface LeasePool {
  /** Seats that can be held in total, overdraft included. Null: unlimited, so that reservations have no effect. */
  readonly limit: number | null;
  /** Everyone who takes a seat now, in any order. */
  readonly holders: Iterable<LeaseHolder>;
}

export interface SeatRequest {
  readonly requester: LeaseRequester;
  /** Seats that the request needs; 0 if it shares a seat that is already taken. */
  readonly units: number;
}

/**
 * - `denied`: never, under these rules. `rule` is the `deny` that matched, or the `max` that is below the request.
 * - `no_seat`: not now. `rule` is the `max` that is used up, the reservation of another requester that keeps the last
 *   seats, or null if all seats are taken.
 */
export type LeaseVerdict =
  | { readonly outcome: 'granted' }
  | { readonly outcome: 'denied'; readonly rule: number }
  | { readonly outcome: 'no_seat'; readonly rule: number | null };

export interface CompiledLeaseRules {
  /** Whether a decision depends on who holds seats. If not, `holders` need only add up. */
  readonly needsHolders: boolean;
  /** The rule that decides about access: the first `allow` or `deny` that matches. */
  accessRule(requester: LeaseRequester): LeaseRule | null;
  /** All rules whose match includes the requester, in order. */
  matching(requester: LeaseRequester): LeaseRule[];
  /** Decides about any number of requests, as long as the holders stay the same: they are counted once for all. */
  among(pool: LeasePool): (request: SeatRequest) => LeaseVerdict;
  /** Which requests their own reservations cover; null if no seats are reserved. */
  passing(pool: LeasePool): ReservationCover | null;
  /** Seats that are kept for matching requesters and that none of them holds now. */
  reservedUnits(pool: LeasePool): number;
}

export interface ReservationCover {
  /** Whether reservations of the requester have room for all of its units, with all holders where they fit best. */
  covers(request: SeatRequest): boolean;
  /** Counts another holder. */
  add(holder: LeaseHolder): void;
}

/** Bounds the memory for a license with very many users. */
const MOST_KNOWN_REQUESTERS = 20_000;

const GRANTED = { outcome: 'granted' } as const;

const unitsOf = ({ units }: LeaseRule): number => units ?? 0;

/**
 * Reservations beyond the limit are cut off, the last ones first, so that their sum never exceeds the pool.
 */
function effectiveSeats(reservations: readonly LeaseRule[], limit: number): number[] {
  let left = limit;
  return reservations.map((rule) => {
    const kept = Math.min(unitsOf(rule), left);
    left -= kept;
    return kept;
  });
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** @param rules of one license, in order; compiling is worth keeping until a rule or a group changes */
export function compileLeaseRules(rules: readonly LeaseRule[]): CompiledLeaseRules {
  const tests = rules.map((rule) => ({ rule, matches: compileMatch(rule.match) }));
  const reservations = rules.filter(({ type }) => type === 'reserve');
  const known = new Map<string, LeaseRule[]>();

  function matching(requester: LeaseRequester): LeaseRule[] {
    const key = JSON.stringify([requester.user, requester.host, requester.address]);
    const before = known.get(key);
    if (before) return before;
    const found = tests.filter(({ matches }) => matches(requester)).map(({ rule }) => rule);
    if (known.size >= MOST_KNOWN_REQUESTERS) known.clear();
    known.set(key, found);
    return found;
  }

  function accessRule(requester: LeaseRequester): LeaseRule | null {
    return matching(requester).find(({ type }) => type === 'allow' || type === 'deny') ?? null;
  }

  /** Holders that may use the same reservations count together. */
  function countIn(classes: Map<string, SeatClass>, holder: LeaseHolder): void {
    const usable = matching(holder)
      .filter(({ type }) => type === 'reserve')
      .map((rule) => reservations.indexOf(rule));
    const key = usable.join();
    const units = holder.units + (classes.get(key)?.units ?? 0);
    classes.set(key, { reservations: usable, units });
  }

  function classesOf(holders: Iterable<LeaseHolder>): SeatClass[] {
    const classes = new Map<string, SeatClass>();
    for (const holder of holders) countIn(classes, holder);
    return [...classes.values()];
  }

  /** What is held of each limit. */
  function heldOfLimits(holders: Iterable<LeaseHolder>): Map<LeaseRule, number> {
    const held = new Map<LeaseRule, number>();
    for (const holder of holders) {
      for (const rule of matching(holder))
        if (rule.type === 'max') held.set(rule, (held.get(rule) ?? 0) + holder.units);
    }
    return held;
  }

  /** Decides whether seats are free for a request. */
  function placeIn(limit: number, holders: readonly LeaseHolder[]): (request: SeatRequest) => LeaseVerdict {
    const total = sum(holders.map((holder) => holder.units));
    const reserved = effectiveSeats(reservations, limit);
    const open = limit - sum(reserved);
    const classes = classesOf(holders);
    const before = total - unitsOnReservations(classes, reserved);
    return ({ requester, units }) => {
      if (total + units > limit) return { outcome: 'no_seat', rule: null };
      const placed = unitsOnReservations([...classes, ...classesOf([{ ...requester, units }])], reserved);
      const after = total + units - placed;
      // A request that its own reservation covers is granted even if others hold too many seats since a rule was changed.
      if (after <= open || after === before) return GRANTED;
      const own = matching(requester);
      const others = reservations.find((rule, index) => (reserved[index] ?? 0) > 0 && !own.includes(rule));
      return { outcome: 'no_seat', rule: others?.id ?? null };
    };
  }

  return {
    needsHolders: rules.some(({ type }) => type === 'reserve' || type === 'max'),
    accessRule,
    matching,
    among({ limit, holders }) {
      const all = [...holders];
      const held = heldOfLimits(all);
      const place = limit === null ? () => GRANTED : placeIn(limit, all);
      return (request) => {
        const { requester, units } = request;
        const access = accessRule(requester);
        if (access?.type === 'deny') return { outcome: 'denied', rule: access.id };
        if (units === 0) return GRANTED;
        const limits = matching(requester).filter(({ type }) => type === 'max');
        const tooLow = limits.find((rule) => units > unitsOf(rule));
        if (tooLow) return { outcome: 'denied', rule: tooLow.id };
        const usedUp = limits.find((rule) => (held.get(rule) ?? 0) + units > unitsOf(rule));
        return usedUp ? { outcome: 'no_seat', rule: usedUp.id } : place(request);
      };
    },
    passing({ limit, holders }) {
      if (limit === null || reservations.length === 0) return null;
      const reserved = effectiveSeats(reservations, limit);
      // Kept for all requests: many clients may wait, each behind many others.
      const classes = new Map<string, SeatClass>();
      for (const holder of holders) countIn(classes, holder);
      return {
        covers({ requester, units }) {
          if (!matching(requester).some(({ type }) => type === 'reserve')) return false;
          const before = [...classes.values()];
          const after = [...before, ...classesOf([{ ...requester, units }])];
          return unitsOnReservations(after, reserved) - unitsOnReservations(before, reserved) === units;
        },
        add: (holder) => countIn(classes, holder),
      };
    },
    reservedUnits({ limit, holders }) {
      if (limit === null || reservations.length === 0) return 0;
      const reserved = effectiveSeats(reservations, limit);
      return sum(reserved) - unitsOnReservations(classesOf(holders), reserved);
    },
  };
}
