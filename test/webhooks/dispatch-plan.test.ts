import { array, assert, boolean, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Contender, planClaims, type Standing } from '#server/features/webhooks/dispatch-plan.ts';
import { createInFlightAttempts } from '#server/features/webhooks/in-flight-attempts.ts';

/** `count` webhooks alike, with ids from `from` on. */
const some = (
  count: number,
  standing: Standing,
  inFlight = 0,
  { from = 1, isDue = true }: { from?: number; isDue?: boolean } = {},
): Contender[] =>
  Array.from({ length: count }, (_, index) => ({ webhookId: from + index, standing, inFlight, isDue }));

/** The plan that gives each of `count` webhooks this many slots. */
const each = (count: number, slots: number, from = 1): [id: number, slots: number][] =>
  Array.from({ length: count }, (_, index) => [from + index, slots]);

const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0);
const inFlightOf = (contenders: Contender[], ...standings: Standing[]) =>
  sum(contenders.filter(({ standing }) => standings.includes(standing)).map(({ inFlight }) => inFlight));

describe('planClaims', () => {
  it.each<[what: string, contenders: Contender[], plan: [id: number, slots: number][]]>([
    ['nothing is due: no slots', some(3, 'working', 0, { isDue: false }), []],
    ['a working webhook gets two slots', some(1, 'working'), [[1, 2]]],
    ['a new webhook gets two slots', some(1, 'untried'), [[1, 2]]],
    ['a failing webhook gets twenty slots', some(1, 'failing'), [[1, 20]]],
    ['a working webhook with one attempt gets one more slot', some(1, 'working', 1), [[1, 1]]],
    ['a working webhook with two attempts gets none', some(1, 'working', 2), []],
    ['a failing webhook with 17 attempts gets three more slots', some(1, 'failing', 17), [[1, 3]]],
    ['nineteen failing webhooks share half of their slots', some(20, 'failing'), each(20, 5)],
    ['no second slot once half are in use', some(50, 'working'), each(50, 1)],
    [
      'first slots come before second ones',
      [...some(49, 'working'), ...some(1, 'working', 1, { from: 50 })],
      each(49, 1),
    ],
    ['100 working webhooks', some(120, 'working'), each(100, 1)],
    ['64 new webhooks', some(90, 'untried'), each(64, 1)],
    ['200 failing webhooks', some(300, 'failing'), each(200, 1)],
    [
      'a working webhook beside 64 new ones',
      [...some(64, 'untried', 1), ...some(1, 'working', 0, { from: 100 })],
      each(1, 1, 100),
    ],
    [
      'working webhooks beside any number of failing ones',
      [
        ...some(200, 'failing', 1),
        ...some(300, 'failing', 0, { from: 201 }),
        ...some(20, 'working', 0, { from: 600 }),
      ],
      each(20, 2, 600),
    ],
    [
      'new webhooks beside any number of failing ones',
      [
        ...some(200, 'failing', 1),
        ...some(300, 'failing', 0, { from: 201 }),
        ...some(50, 'untried', 0, { from: 600 }),
      ],
      each(40, 1, 600),
    ],
    [
      'no more than 300 in all',
      [...some(298, 'failing', 1), ...some(5, 'working', 0, { from: 600 })],
      each(2, 1, 600),
    ],
  ])('%s', (_what, contenders, plan) => {
    expect([...planClaims(contenders)]).toEqual(plan);
  });

  it('stays within its limits under random load', () => {
    const contender = record({
      standing: constantFrom<Standing>('failing', 'untried', 'working'),
      isDue: boolean(),
      // How many of its attempts end before the next turn.
      ending: integer({ min: 0, max: 6 }),
    });
    const turns = array(array(contender, { minLength: 1, maxLength: 400, size: 'max' }), {
      minLength: 1,
      maxLength: 6,
    });
    const run = property(turns, (all) => {
      let held = new Map<number, number>();
      for (const turn of all) {
        const contenders = turn.map(({ standing, isDue }, webhookId) => ({
          webhookId,
          standing,
          isDue,
          inFlight: held.get(webhookId) ?? 0,
        }));
        const plan = planClaims(contenders);
        const after = contenders.map((one) => ({
          ...one,
          inFlight: one.inFlight + (plan.get(one.webhookId) ?? 0),
        }));
        for (const [webhookId, slots] of plan) {
          expect(contenders[webhookId]?.isDue).toBe(true);
          expect(after[webhookId]?.inFlight).toBeLessThanOrEqual(
            contenders[webhookId]?.standing === 'failing' ? 20 : 2,
          );
          expect(slots).toBeGreaterThan(0);
        }
        for (const [standings, most] of [
          [['failing'], 200],
          [['untried'], 64],
          [['failing', 'untried'], 240],
          [['untried', 'working'], 100],
          [['failing', 'untried', 'working'], 300],
        ] as [Standing[], number][]) {
          // More can only be there because standings changed since.
          const before = inFlightOf(contenders, ...standings);
          expect(inFlightOf(after, ...standings)).toBeLessThanOrEqual(Math.max(before, most));
        }
        // No slot stays free while a working webhook waits for its first one.
        const waits = after.some(
          ({ standing, isDue, inFlight }) => standing === 'working' && isDue && inFlight === 0,
        );
        const isFull =
          inFlightOf(after, 'untried', 'working') >= 100 ||
          inFlightOf(after, 'failing', 'untried', 'working') >= 300;
        if (waits) expect(isFull).toBe(true);
        held = new Map(
          after.map(({ webhookId, inFlight }) => [
            webhookId,
            Math.max(0, inFlight - (turn[webhookId]?.ending ?? 0)),
          ]),
        );
      }
    });
    assert(run, { numRuns: 50 });
  });
});

describe('a webhook', () => {
  const due = (...ids: number[]) =>
    ids.map((webhookId) => ({ webhookId, isDue: true, standing: 'untried' as const }));
  const claim = (id: number) => ({ id, leaseEndsAt: 90_000 });

  it('that was served longest ago comes first', () => {
    const attempts = createInFlightAttempts(() => 0);
    for (const id of [3, 1, 2]) attempts.begin(claim(id), id);
    for (const id of [3, 1, 2]) attempts.end(id, true);
    expect([...attempts.plan(due(1, 2, 3, 4)).keys()]).toEqual([4, 3, 1, 2]);
  });

  it('fails while an attempt hangs, and until one is accepted', () => {
    let now = 0;
    const attempts = createInFlightAttempts(() => now);
    expect(attempts.msUntilNextHangs()).toBe(Infinity);
    attempts.begin(claim(1), 7);
    now = 400;
    attempts.begin(claim(2), 7);
    expect([...attempts.plan(due(7))]).toEqual([]);
    expect(attempts.msUntilNextHangs()).toBe(600);
    now = 1000;
    expect([...attempts.plan(due(7))]).toEqual([[7, 18]]);
    expect(attempts.msUntilNextHangs()).toBe(400);
    now = 1500;
    expect(attempts.msUntilNextHangs()).toBe(Infinity);
    // Accepted, but late.
    attempts.end(1, true);
    attempts.end(2, true);
    expect([...attempts.plan(due(7))]).toEqual([[7, 2]]);
    attempts.begin(claim(3), 7);
    attempts.end(3, true);
    expect([...attempts.plan(due(7))]).toEqual([[7, 2]]);
    // Refused at once.
    attempts.begin(claim(4), 7);
    attempts.end(4, false);
    expect([...attempts.plan(due(7))]).toEqual([[7, 20]]);
  });

  it('that accepts deliveries late gets a slot while others use all that failing ones have', () => {
    let now = 0;
    const attempts = createInFlightAttempts(() => now);
    for (let id = 1; id <= 200; id += 1) attempts.begin(claim(id), id);
    attempts.begin(claim(500), 500);
    now = 1500;
    attempts.end(500, true);
    expect([...attempts.plan(due(...Array.from({ length: 200 }, (_, at) => at + 1), 500))]).toEqual([
      [500, 2],
    ]);
  });

  it('counts as the database has it until its first attempt here has ended', () => {
    const attempts = createInFlightAttempts(() => 0);
    const known = { webhookId: 7, isDue: true, standing: 'failing' as const };
    expect([...attempts.plan([known])]).toEqual([[7, 20]]);
    attempts.begin(claim(1), 7);
    attempts.end(1, true);
    expect([...attempts.plan([known])]).toEqual([[7, 2]]);
  });

  it('that was deleted keeps its slots until its attempts end', () => {
    const attempts = createInFlightAttempts(() => 0);
    for (let id = 1; id <= 64; id += 1) attempts.begin(claim(id), id);
    expect(attempts.plan(due(100)).size).toBe(0);
    for (let id = 1; id <= 64; id += 1) attempts.end(id, true);
    expect([...attempts.plan(due(100))]).toEqual([[100, 2]]);
    expect(attempts.claims()).toEqual([]);
  });
});
