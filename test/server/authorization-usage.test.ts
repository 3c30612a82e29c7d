// Counts of authorizations are written in the background; statistics and the end of a server wait for that.
import { expect, it } from 'vitest';
import { createAuthorizationUsage } from '#server/features/authorization-tokens/authorization-usage.ts';
import { createTestClock } from '../helpers/test-clock.ts';

it('counts each call for its day, however late it is written', async () => {
  const clock = createTestClock(Date.parse('2026-11-20T23:59:58Z'));
  const written: unknown[] = [];
  let isFull = true;
  const usage = createAuthorizationUsage({
    store: { add: async (day, product, count) => void written.push([day, product, count]) },
    touchTokens: async () => {},
    transaction: async (work) => {
      if (isFull) throw new Error('the disk is full');
      return work();
    },
    clock,
    onWritten: () => {},
    onError: () => {},
  });
  usage.count('default', true, clock.now());
  usage.count('default', false, clock.now());
  await usage.flush();
  clock.advance(5000);
  usage.count('default', true, clock.now());
  isFull = false;
  await usage.flush();
  expect(written).toEqual([
    ['2026-11-20', 'default', { granted: 1, denied: 1 }],
    ['2026-11-21', 'default', { granted: 1, denied: 0 }],
  ]);
  await usage.close();
});

it('waits for the write under way', async () => {
  const database = Promise.withResolvers<void>();
  const written: number[] = [];
  const usage = createAuthorizationUsage({
    store: { add: async (_day, _product, { granted }) => void written.push(granted) },
    touchTokens: async () => {},
    transaction: async (work) => {
      await database.promise;
      return work();
    },
    clock: createTestClock(0),
    onWritten: () => {},
    onError: () => {},
  });
  usage.count('default', true, 0);
  const first = usage.flush();
  const closed = usage.close().then(() => written.slice());
  await new Promise(setImmediate);
  database.resolve();
  expect(await closed).toEqual([1]);
  await first;
});
