import { assert, constantFrom, array, boolean, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlaces } from '../../server/webhooks/dispatch-places.ts';
import { type Contender, planClaims, type Standing } from '../../server/webhooks/dispatch-plan.ts';

/** So many alike; ids count on from `from`. */
const some = (
  count: number,
  standing: Standing,
  taken = 0,
  { from = 1, isDue = true }: { from?: number; isDue?: boolean } = {},
): Contender[] =>
  Array.from({ length: count }, (_, index) => ({ webhookId: from + index, standing, taken, isDue }));

const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0);
const takenBy = (contenders: Contender[], ...standings: Standing[]) =>
  sum(contenders.filter(({ standing }) => standings.includes(standing)).map(({ taken }) => taken));

describe('places are given', () => {
  it.each<[what: string, contenders: Contender[], plan: [id: number, count: number][]]>([
    ['to nobody where nothing is due', some(3, 'prompt', 0, { isDue: false }), []],
    ['twice to one that is alone', some(1, 'prompt'), [[1, 2]]],
    ['twice to one that is slow and alone', some(1, 'slow'), [[1, 2]]],
    ['twice to one that is new and alone', some(1, 'untried'), [[1, 2]]],
    ['once more to one that has one', some(1, 'prompt', 1), [[1, 1]]],
    ['no third time', some(1, 'prompt', 2), []],
    [
      'in the order of the turns, first ones before second ones',
      [...some(2, 'prompt', 0, { from: 8 }), ...some(1, 'prompt', 1, { from: 3 })],
      [
        [8, 2],
        [9, 2],
        [3, 1],
      ],
    ],
    [
      'no second time once half are taken',
      some(9, 'prompt'),
      [[1, 2], ...[2, 3, 4, 5, 6, 7, 8, 9].map((id): [number, number] => [id, 1])],
    ],
    [
      'to all twenty that answer',
      some(20, 'prompt'),
      some(20, 'prompt').map(({ webhookId }) => [webhookId, 1]),
    ],
    ['to ten that are slow', some(30, 'slow'), some(10, 'slow').map(({ webhookId }) => [webhookId, 1])],
    [
      'to sixteen of which nothing is known',
      some(30, 'untried'),
      some(16, 'untried').map(({ webhookId }) => [webhookId, 1]),
    ],
    [
      'to one that answers beside nineteen that have begun to hang',
      [...some(19, 'slow', 1), ...some(3, 'prompt', 0, { from: 30 })],
      [[30, 1]],
    ],
    [
      'to ten that answer beside any number known to be slow',
      [...some(10, 'slow', 1), ...some(90, 'slow', 0, { from: 11 }), ...some(12, 'prompt', 0, { from: 200 })],
      some(10, 'prompt', 0, { from: 200 }).map(({ webhookId }) => [webhookId, 1]),
    ],
    [
      'to new ones beside any number known to be slow',
      [...some(10, 'slow', 1), ...some(90, 'slow', 0, { from: 11 }), ...some(9, 'untried', 0, { from: 200 })],
      some(6, 'untried', 0, { from: 200 }).map(({ webhookId }) => [webhookId, 1]),
    ],
    ['to nobody beyond twenty', [...some(20, 'slow', 1), ...some(5, 'prompt', 0, { from: 30 })], []],
  ])('%s', (_what, contenders, plan) => {
    expect([...planClaims(contenders)]).toEqual(plan);
  });

  it('within the limits, whatever comes and goes', () => {
    const contender = record({
      standing: constantFrom<Standing>('slow', 'untried', 'prompt'),
      isDue: boolean(),
      // How many of its attempts end before the next turn.
      ending: integer({ min: 0, max: 2 }),
    });
    const turns = array(array(contender, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 6 });
    assert(
      property(turns, (all) => {
        let held = new Map<number, number>();
        for (const turn of all) {
          const contenders = turn.map(({ standing, isDue }, webhookId) => ({
            webhookId,
            standing,
            isDue,
            taken: held.get(webhookId) ?? 0,
          }));
          // Whoever is not listed any more has ended, too.
          const plan = planClaims(contenders);
          const after = contenders.map((each) => ({
            ...each,
            taken: each.taken + (plan.get(each.webhookId) ?? 0),
          }));
          for (const [webhookId] of plan) expect(contenders[webhookId]?.isDue).toBe(true);
          for (const { taken } of after) expect(taken).toBeLessThanOrEqual(2);
          expect(sum(after.map(({ taken }) => taken))).toBeLessThanOrEqual(20);
          for (const [standings, most] of [
            [['slow'], 10],
            [['slow', 'untried'], 16],
          ] as [Standing[], number][]) {
            // More can only be there because they have become slow since.
            const before = takenBy(contenders, ...standings);
            expect(takenBy(after, ...standings)).toBeLessThanOrEqual(Math.max(before, most));
          }
          // No place stays empty while somebody prompt waits for a first one.
          const waits = after.some(
            ({ standing, isDue, taken }) => standing === 'prompt' && isDue && taken === 0,
          );
          if (waits) expect(sum(after.map(({ taken }) => taken))).toBe(20);
          held = new Map(
            after.map(({ webhookId, taken }) => [
              webhookId,
              Math.max(0, taken - (turn[webhookId]?.ending ?? 0)),
            ]),
          );
        }
      }),
    );
  });
});

describe('a registration', () => {
  const all = (...ids: number[]) =>
    ids.map((webhookId) => ({ webhookId, isDue: true, standing: 'untried' as const }));

  it('that was served longest ago comes first', () => {
    const places = createPlaces(() => 0);
    for (const id of [3, 1, 2]) places.take(id, id);
    for (const id of [3, 1, 2]) places.leave(id);
    expect([...places.plan(all(1, 2, 3, 4)).keys()]).toEqual([4, 3, 1, 2]);
  });

  it('is slow while an attempt hangs, and until one is quick', () => {
    let now = 0;
    const places = createPlaces(() => now);
    const hanging = Array.from({ length: 16 }, (_, index) => index + 1);
    for (const id of hanging) places.take(id, id);
    // Nothing is known of them yet, so there is room for four that answer, and not for any that are new.
    expect(places.plan(all(...hanging, 100)).size).toBe(0);
    const prompt = [101, 102, 103, 104, 105].map((webhookId) => ({
      webhookId,
      isDue: true,
      standing: 'prompt' as const,
    }));
    expect([...places.plan([...all(...hanging), ...prompt]).keys()]).toEqual([101, 102, 103, 104]);
    now = 30_000;
    for (const id of hanging) places.leave(id);
    expect(places.plan(all(...hanging)).size).toBe(10);
    // Ten of them answer at once.
    for (const id of hanging.slice(0, 10)) {
      places.take(id, id);
      places.leave(id);
    }
    expect(places.plan(all(...hanging)).size).toBe(16);
  });

  it('that is gone keeps its places until its attempts end', () => {
    const places = createPlaces(() => 0);
    for (let id = 1; id <= 20; id += 1) places.take(id, id);
    expect(places.plan(all(21)).size).toBe(0);
    for (let id = 1; id <= 20; id += 1) places.leave(id);
    expect([...places.plan(all(21))]).toEqual([[21, 2]]);
    expect(places.deliveryIds()).toEqual([]);
  });

  it('with two attempts under way is full', () => {
    const places = createPlaces(() => 0);
    places.take(1, 7);
    expect(places.full()).toEqual(new Set());
    places.take(2, 7);
    expect(places.full()).toEqual(new Set([7]));
    expect(places.plan(all(7)).size).toBe(0);
  });
});
