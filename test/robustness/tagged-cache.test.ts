// The cache of authorizations in every order of events: nothing read after a change was loaded before it.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createTaggedCache } from '../../server/platform/tagged-cache.ts';

const KEYS = ['a1', 'a2', 'b1', 'b2'];
const tagOfKey = (key: string) => (key.startsWith('a') ? 1 : 2);

interface Row {
  tag: number;
  version: number;
}

/** What the database would say, which changes while loads are under way. */
function newSource(schedule: (key: string) => Promise<void>) {
  const versions = new Map(KEYS.map((key) => [key, 0]));
  return {
    version: (key: string) => versions.get(key) as number,
    change(key: string) {
      versions.set(key, this.version(key) + 1);
    },
    /** Takes the row as it is now, and delivers it when its time comes. */
    async load(key: string): Promise<Row | null> {
      const version = versions.get(key);
      await schedule(key);
      return version === undefined ? null : { tag: tagOfKey(key), version };
    },
  };
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('read' as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('change' as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('changeAll' as const), key: fc.constant('') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('deliver' as const), key: fc.constant('') }) },
);

it.each([1000, 2, 1])('never gives what was loaded before the last change, with room for %i', async (max) => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 40 }), async (scheduler, steps) => {
      const source = newSource((key) => scheduler.schedule(Promise.resolve(), key));
      const cache = createTaggedCache<Row>({ max, tagOf: (row) => row.tag, load: (key) => source.load(key) });
      const reads: Promise<void>[] = [];
      const readNow = async (key: string) => {
        const least = source.version(key);
        const row = await cache.read(key);
        expect(row?.version).toBeGreaterThanOrEqual(least);
      };
      for (const { do: action, key } of steps) {
        if (action === 'read') reads.push(readNow(key));
        else if (action === 'deliver' && scheduler.count() > 0) await scheduler.waitOne();
        else if (action === 'change') {
          source.change(key);
          cache.drop(tagOfKey(key));
        } else if (action === 'changeAll') {
          for (const one of KEYS) source.change(one);
          cache.dropAll();
        }
      }
      await scheduler.waitAll();
      await Promise.all(reads);
      const last = Promise.all(KEYS.map((key) => readNow(key)));
      await scheduler.waitAll();
      await last;
    }),
    { numRuns: 2000 },
  );
});

it('keeps what nothing has changed', async () => {
  let loads = 0;
  const load = async (key: string): Promise<Row> => {
    loads += 1;
    return { tag: tagOfKey(key), version: loads };
  };
  const cache = createTaggedCache<Row>({ max: 10, tagOf: (row) => row.tag, load });
  for (const key of [...KEYS, ...KEYS]) await cache.read(key);
  expect(loads).toBe(4);
  cache.drop(1);
  for (const key of KEYS) await cache.read(key);
  expect(loads).toBe(6);
});

it('keeps nothing where it has no room at all, and nothing of what is not there', async () => {
  let loads = 0;
  const load = async (): Promise<Row | null> => {
    loads += 1;
    return null;
  };
  for (const max of [0, 10]) {
    const cache = createTaggedCache<Row>({ max, tagOf: (row) => row.tag, load });
    loads = 0;
    for (let read = 0; read < 3; read += 1) expect(await cache.read('gone')).toBe(null);
    expect(loads).toBe(3);
  }
});
