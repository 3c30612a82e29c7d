// Which list is served while a new one is being made: by a hand-written store that answers when the test lets it.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRevocationListService } from '#server/features/certificates/revocation-list-service.ts';
import type {
  RevocationListRow,
  RevocationListStore,
} from '#server/features/certificates/revocation-list-store.ts';
import { createTestClock } from '../helpers/test-clock.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2031, 4, 5);

const rowOf = (number: number, now: number): RevocationListRow => ({
  number,
  authorityId: 1,
  authorityKey: 'ab',
  builtAt: now,
  thisUpdate: now - 300_000,
  nextUpdate: now + 7 * DAY_MS,
  endedBefore: 0,
});

/** A list in a database, each look at which is answered with what there was when it began, and not before it may. */
function setUp() {
  const clock = createTestClock(START);
  let stored: RevocationListRow | null = null;
  let publishing = async () => {};
  const held: (() => void)[] = [];
  let holds = false;
  let documents = 0;
  const lists: Pick<RevocationListStore, 'newest' | 'der' | 'json'> = {
    newest: async () => {
      const seen = stored;
      if (holds)
        await new Promise<void>((resolve) => {
          held.push(resolve);
        });
      return seen;
    },
    der: async (number) => {
      documents += 1;
      return number === stored?.number ? Buffer.from([0x30, 0]) : null;
    },
    json: async () => '[]',
  };
  const service = createRevocationListService({
    lists,
    clock,
    authority: { current: async () => ({}) as never },
    publishRevocations: () => publishing(),
    hasUnlisted: async () => false,
  });
  const call = {
    actor: { kind: 'public' as const, name: 'nobody' },
    requestId: 'test',
    isGone: () => false,
    setReplyHeader: () => {},
    prefers: ([first]: readonly [string, ...string[]]) => first,
  };
  return {
    clock,
    store(number: number) {
      stored = rowOf(number, clock.now());
    },
    onPublish(work: () => void | Promise<void>) {
      publishing = async () => work();
    },
    hold() {
      holds = true;
    },
    release() {
      holds = false;
      for (const go of held.splice(0)) go();
    },
    documentsRead: () => documents,
    publish: service.publish,
    async numberServed() {
      const { etag } = await service.serve({ format: 'der' }, call);
      return Number(/\d+/u.exec(etag ?? '')?.[0]);
    },
  };
}

describe('the list that is served', () => {
  it('is the new one after a revocation was answered, though a look at the old one is still under way', async () => {
    const desk = setUp();
    desk.store(1);
    expect(await desk.numberServed()).toBe(1);
    // The next call looks again.
    await desk.publish();
    desk.hold();
    // Begun before the revocation, and told of the old list only after it.
    const early = desk.numberServed();
    desk.store(2);
    const published = desk.publish();
    await setImmediate();
    desk.release();
    await published;
    expect([1, 2]).toContain(await early);
    expect(await desk.numberServed()).toBe(2);
  });

  it('is built at the first call, once for all concurrent callers', async () => {
    const desk = setUp();
    let made = 0;
    desk.onPublish(async () => {
      made += 1;
      await Promise.resolve();
      desk.store(7);
    });
    const numbers = await Promise.all(Array.from({ length: 20 }, () => desk.numberServed()));
    expect(new Set(numbers)).toEqual(new Set([7]));
    expect(made).toBe(1);
    expect(desk.documentsRead()).toBe(1);
  });

  it('is a new one if the old one has expired or is not valid yet', async () => {
    const desk = setUp();
    let number = 1;
    desk.store(number);
    desk.onPublish(() => {
      number += 1;
      desk.store(number);
    });
    expect(await desk.numberServed()).toBe(1);
    desk.clock.set(START + 7 * DAY_MS - 1);
    expect(await desk.numberServed()).toBe(1);
    desk.clock.advance(1);
    expect(await desk.numberServed()).toBe(2);
    desk.clock.set(START);
    expect(await desk.numberServed()).toBe(3);
  });

  it('is the old one if none can be built, and missing if there was none', async () => {
    const desk = setUp();
    await expect(desk.numberServed()).rejects.toMatchObject({ code: 'unavailable' });
    desk.store(1);
    expect(await desk.numberServed()).toBe(1);
    desk.clock.advance(30 * DAY_MS);
    expect(await desk.numberServed()).toBe(1);
  });
});
