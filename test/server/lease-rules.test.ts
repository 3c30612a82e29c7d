import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compileMatch, type LeaseMatch } from '#server/rules/lease-match.ts';
import { parseNetwork } from '#server/wire/networks.ts';
import {
  compileLeaseRules,
  type LeaseHolder,
  type LeaseRule,
  type LeaseVerdict,
} from '#server/rules/lease-rules.ts';
import { unitsOnReservations } from '#server/rules/seat-placement.ts';

const NOBODY = { user: null, host: null, address: null };
const who = (user: string) => ({ ...NOBODY, user });
const holds = (user: string, units = 1): LeaseHolder => ({ ...who(user), units });
const users = (...members: string[]) => ({ group: { kind: 'user' as const, members } });

const granted: LeaseVerdict = { outcome: 'granted' };
const denied = (rule: number): LeaseVerdict => ({ outcome: 'denied', rule });
const noSeat = (rule: number | null): LeaseVerdict => ({ outcome: 'no_seat', rule });

/** Rules get their place in the list as ID, from 1. */
function rules(...given: (Omit<LeaseRule, 'id' | 'units'> & { units?: number })[]) {
  return compileLeaseRules(given.map((rule, at) => ({ units: null, ...rule, id: at + 1 })));
}

interface Ask {
  units?: number;
  limit?: number | null;
  holders?: LeaseHolder[];
}

function ask(compiled: ReturnType<typeof rules>, user: string, given: Ask = {}): LeaseVerdict {
  const { units = 1, limit = 3, holders = [] } = given;
  return compiled.among({ limit, holders })({ requester: who(user), units });
}

describe('a match', () => {
  const bob = { user: 'Bob', host: 'WS-1.example.com', address: '10.1.2.3' };
  test.each<[string, LeaseMatch, boolean]>([
    ['nothing, which is everyone', {}, true],
    ['the user', { user: 'Bob' }, true],
    ['the user in another case', { user: 'bOB' }, true],
    ['another user', { user: 'bobby' }, false],
    ['the host in another case', { host: 'ws-1.EXAMPLE.com' }, true],
    ['the short host name', { host: 'ws-1' }, false],
    ['an address', { address: '10.1.2.3' }, true],
    ['a network', { address: '10.1.0.0/16' }, true],
    ['another network', { address: '10.2.0.0/16' }, false],
    ['all of IPv4', { address: '0.0.0.0/0' }, true],
    ['all of IPv6', { address: '::/0' }, false],
    ['the network as a mapped one', { address: '::ffff:10.1.0.0/112' }, true],
    ['user and network', { user: 'bob', address: '10.0.0.0/8' }, true],
    ['user and another network', { user: 'bob', address: '192.168.0.0/16' }, false],
    ['a group of users', users('alice', 'BOB'), true],
    ['a group without the user', users('alice'), false],
    ['an empty group', users(), false],
    ['a group of hosts', { group: { kind: 'host', members: ['ws-1.example.com'] } }, true],
    ['a group of hosts by network', { group: { kind: 'host', members: ['ws-9', '10.1.2.0/24'] } }, true],
    ['a group of hosts that is named like the user', { group: { kind: 'host', members: ['bob'] } }, false],
    ['a group of users that is named like the host', users('ws-1.example.com'), false],
  ])('by %s', (_name, match, expected) => {
    expect(compileMatch(match)(bob)).toBe(expected);
  });

  it('compares composed and decomposed characters as the same', () => {
    expect(compileMatch({ user: 'J\u{fc}rgen' })(who('ju\u{308}rgen'))).toBe(true);
  });

  test.each(['user', 'host', 'address'] as const)('never finds a requester without %s', (field) => {
    const match = { user: 'bob', host: 'ws-1', address: '0.0.0.0/0' };
    expect(compileMatch({ [field]: match[field] })(NOBODY)).toBe(false);
  });

  test.each<[string, string, boolean]>([
    ['2001:db8::1', '2001:db8::/32', true],
    ['2001:db9::1', '2001:db8::/32', false],
    ['fe80::1%eth0', 'fe80::/10', true],
    ['::ffff:10.0.0.1', '10.0.0.0/8', true],
    ['::ffff:10.0.0.1', '::ffff:0:0/96', true],
    ['10.0.0.1', '2001:db8::/32', false],
    ['not an address', '0.0.0.0/0', false],
    // Other spellings of 127.0.0.1, which the server never reports.
    ['2130706433', '127.0.0.0/8', false],
    ['0x7f.1', '127.0.0.0/8', false],
  ])('of %s by %s: %s', (address, network, expected) => {
    expect(compileMatch({ address: network })({ ...NOBODY, address })).toBe(expected);
  });

  test.each(['10.0.0.0/33', '::/129', '10.0.0/8', '10.0.0.0/', '10.0.0.0/8/8', 'fe80::1%eth0', '', 'ws-1'])(
    'has no network %j',
    (text) => {
      expect(parseNetwork(text)).toBeNull();
    },
  );
});

describe('access', () => {
  it('is for everyone without rules', () => {
    expect(ask(rules(), 'bob')).toEqual(granted);
  });

  it('is decided by the first rule that matches', () => {
    const access = rules(
      { type: 'allow', match: { user: 'boss' } },
      { type: 'deny', match: users('boss', 'guest') },
      { type: 'allow', match: { user: 'guest' } },
    );
    expect(ask(access, 'boss')).toEqual(granted);
    expect(ask(access, 'guest')).toEqual(denied(2));
    expect(ask(access, 'anyone')).toEqual(granted);
  });

  it('is for a list of users only if a rule for everyone denies the rest', () => {
    const access = rules({ type: 'allow', match: users('ann', 'ben') }, { type: 'deny', match: {} });
    expect(ask(access, 'ann')).toEqual(granted);
    expect(ask(access, 'eve')).toEqual(denied(2));
  });

  it('is refused to a denied user even for a seat that is reserved for them or taken already', () => {
    const access = rules(
      { type: 'reserve', match: { user: 'eve' }, units: 1 },
      { type: 'deny', match: { user: 'eve' } },
    );
    expect(ask(access, 'eve')).toEqual(denied(2));
    expect(ask(access, 'eve', { units: 0, holders: [holds('eve')] })).toEqual(denied(2));
  });
});

describe('a limit', () => {
  const two = rules({ type: 'max', match: users('ann', 'ben'), units: 2 });
  it('counts all matching requesters together', () => {
    expect(ask(two, 'ann', { holders: [holds('ben')] })).toEqual(granted);
    expect(ask(two, 'ann', { holders: [holds('ben'), holds('ann')] })).toEqual(noSeat(1));
    expect(ask(two, 'eve', { holders: [holds('ben'), holds('ann')] })).toEqual(granted);
  });
  it('denies a request that could never fit', () => {
    expect(ask(two, 'ann', { units: 3 })).toEqual(denied(1));
    expect(ask(two, 'ann', { units: 2 })).toEqual(granted);
  });
  it('applies to an unlimited license', () => {
    expect(ask(two, 'ann', { limit: null, holders: [holds('ben', 2)] })).toEqual(noSeat(1));
    expect(ask(two, 'eve', { limit: null, holders: [holds('eve', 2000)] })).toEqual(granted);
  });
  it('is not the only one: the first that is used up is named', () => {
    const both = rules(
      { type: 'max', match: { user: 'ann' }, units: 5 },
      { type: 'max', match: {}, units: 1 },
    );
    expect(ask(both, 'ann', { holders: [holds('ben')] })).toEqual(noSeat(2));
  });
  it('lets a requester share a seat that is taken', () => {
    expect(ask(two, 'ann', { units: 0, holders: [holds('ann', 2)] })).toEqual(granted);
  });
});

describe('a reservation', () => {
  const boss = rules({ type: 'reserve', match: { user: 'boss' }, units: 2 });
  it('keeps its seats from others', () => {
    expect(ask(boss, 'ann')).toEqual(granted);
    expect(ask(boss, 'ann', { holders: [holds('ben')] })).toEqual(noSeat(1));
    expect(ask(boss, 'boss', { holders: [holds('ben')] })).toEqual(granted);
  });
  it('is used first, before the open seats', () => {
    const holders = [holds('boss', 2)];
    expect(ask(boss, 'ann', { holders })).toEqual(granted);
    expect(ask(boss, 'boss', { holders })).toEqual(granted);
    expect(ask(boss, 'boss', { holders: [...holders, holds('ann')] })).toEqual(noSeat(null));
  });
  it('beyond the limit is cut off, the last one first', () => {
    const many = rules(
      { type: 'reserve', match: { user: 'ann' }, units: 2 },
      { type: 'reserve', match: { user: 'ben' }, units: 4 },
    );
    expect(ask(many, 'ben', { holders: [] })).toEqual(granted);
    expect(ask(many, 'ben', { holders: [holds('ben')] })).toEqual(noSeat(1));
    expect(many.reservedUnits({ limit: 3, holders: [holds('ben')] })).toBe(2);
  });
  it('makes room: a holder with two reservations moves to the one that the other cannot use', () => {
    const overlapping = rules(
      { type: 'reserve', match: users('ann', 'ben'), units: 1 },
      { type: 'reserve', match: { user: 'ann' }, units: 1 },
    );
    expect(ask(overlapping, 'ben', { limit: 2, holders: [holds('ann')] })).toEqual(granted);
  });
  it('made while others hold its seats is served as soon as any seat is free', () => {
    expect(ask(boss, 'boss', { holders: [holds('ann', 2)] })).toEqual(granted);
    expect(ask(boss, 'boss', { holders: [holds('ann', 3)] })).toEqual(noSeat(null));
    expect(ask(boss, 'ben', { holders: [holds('ann', 2)] })).toEqual(noSeat(1));
  });
  it('is of no use on an unlimited license', () => {
    expect(ask(boss, 'ann', { limit: null, holders: [holds('ann', 5000)] })).toEqual(granted);
    expect(boss.reservedUnits({ limit: null, holders: [] })).toBe(0);
  });
});

/** The size of the smallest cut, which equals the largest flow, by trying every set of classes. */
function smallestCut(classes: { reservations: number[]; units: number }[], seats: number[]): number {
  let least = Infinity;
  for (let set = 0; set < 2 ** classes.length; set += 1) {
    const chosen = classes.filter((_, at) => (set >> at) % 2 === 1);
    const rest = classes.filter((_, at) => (set >> at) % 2 === 0);
    const reached = new Set(chosen.flatMap(({ reservations }) => reservations));
    const kept = [...reached].reduce((total, at) => total + (seats[at] ?? 0), 0);
    least = Math.min(least, rest.reduce((total, { units }) => total + units, 0) + kept);
  }
  return least;
}

const NAMES = ['ann', 'ben', 'cat', 'dan'];
const someone = fc.constantFrom(...NAMES);
const someMatch = fc.oneof(
  someone.map((user): LeaseMatch => ({ user })),
  fc.subarray(NAMES).map((members): LeaseMatch => users(...members)),
  fc.constant<LeaseMatch>({}),
);
const someRule = fc.record({
  type: fc.constantFrom('reserve', 'max', 'allow', 'deny'),
  match: someMatch,
  units: fc.integer({ min: 1, max: 5 }),
});

describe('whatever the rules', () => {
  test('as many seats as possible are placed on reservations', () => {
    const seats = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 3, maxLength: 3 });
    const classes = fc.array(
      fc.record({ reservations: fc.subarray([0, 1, 2]), units: fc.integer({ min: 0, max: 5 }) }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(classes, seats, (given, kept) => {
        expect(unitsOnReservations(given, kept)).toBe(smallestCut(given, kept));
      }),
      { numRuns: 500 },
    );
  });

  test('no one takes a seat that is kept for another, and the pool is never exceeded', () => {
    const requests = fc.array(
      fc.record({ user: someone, units: fc.integer({ min: 1, max: 3 }), leave: fc.boolean() }),
      { maxLength: 25 },
    );
    const seats = fc.integer({ min: 0, max: 8 });
    fc.assert(
      fc.property(fc.array(someRule, { maxLength: 6 }), seats, requests, (given, limit, all) => {
        const compiled = rules(...given);
        const list = given.map((rule, at) => ({ ...rule, id: at + 1 }));
        const heldBy = (holders: LeaseHolder[], match: LeaseMatch) =>
          holders.filter(compileMatch(match)).reduce((total, { units }) => total + units, 0);
        let holders: LeaseHolder[] = [];
        for (const { user, units, leave } of all) {
          if (leave) holders = holders.slice(1);
          const verdict = ask(compiled, user, { units, limit, holders });
          if (verdict.outcome === 'granted') holders = [...holders, holds(user, units)];
          expect(heldBy(holders, {})).toBeLessThanOrEqual(limit);
          // Whoever has unused reserved seats gets one, so no one else has it.
          let left = limit;
          for (const rule of list) {
            if (rule.type === 'max') expect(heldBy(holders, rule.match)).toBeLessThanOrEqual(rule.units);
            if (rule.type !== 'reserve') continue;
            const kept = Math.min(left, rule.units);
            left -= kept;
            if (heldBy(holders, rule.match) >= kept) continue;
            const owner = NAMES.find((name) => compileMatch(rule.match)(who(name)));
            if (owner === undefined) continue;
            const onlyReservations = compileLeaseRules(list.filter(({ type }) => type === 'reserve'));
            expect(ask(onlyReservations, owner, { limit, holders })).toMatchObject({ outcome: 'granted' });
          }
          const kept = compiled.reservedUnits({ limit, holders });
          expect(heldBy(holders, {}) + kept).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('the order of the holders does not matter', () => {
    const holders = fc.array(fc.record({ user: someone, units: fc.integer({ min: 1, max: 2 }) }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.array(someRule, { maxLength: 6 }), holders, someone, (given, all, user) => {
        const compiled = rules(...given);
        const seated = all.map((one) => holds(one.user, one.units));
        const verdict = (order: LeaseHolder[]) => ask(compiled, user, { limit: 6, holders: order });
        expect(verdict(seated.toReversed())).toEqual(verdict(seated));
      }),
    );
  });
});
