// Counts of authorizations are written in the background; statistics and the end of a server wait for that.
import { expect, it } from 'vitest';
import { createAuthorizationUsage } from '#server/features/authorization-tokens/authorization-usage.ts';
import { createTestClock } from '../helpers/test-clock.ts';

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
  usage.count('default', true);
  const first = usage.flush();
  const closed = usage.close().then(() => written.slice());
  await new Promise(setImmediate);
  database.resolve();
  expect(await closed).toEqual([1]);
  await first;
});
