import { expect, it } from 'vitest';
import { createFairLookup } from '#server/features/webhooks/fair-lookup.ts';
import { eventually } from '../helpers/eventually.ts';

const ADDRESSES = [{ address: '192.0.2.1', family: 4 }];

/** A resolver whose lookups end when the test says so. */
function manualResolver() {
  const running: { host: string; answer(): void; fail(): void }[] = [];
  const lookup = createFairLookup((host) => {
    const { promise, resolve, reject } = Promise.withResolvers<typeof ADDRESSES>();
    running.push({ host, answer: () => resolve(ADDRESSES), fail: () => reject(new Error('EAI_AGAIN')) });
    return promise;
  });
  const look = (host: string) => lookup(host, { all: true });
  return { running, look, hosts: () => running.map(({ host }) => host) };
}

it('callers that ask for the same name share one lookup', async () => {
  const { running, look, hosts } = manualResolver();
  const both = Promise.all([look('a.example'), look('a.example')]);
  expect(hosts()).toEqual(['a.example']);
  running[0]?.answer();
  expect(await both).toEqual([ADDRESSES, ADDRESSES]);
  void look('a.example');
  expect(hosts()).toEqual(['a.example', 'a.example']);
});

it('names that do not resolve are looked up one at a time, and hold up no other name', async () => {
  const { running, look, hosts } = manualResolver();
  const bad = ['a.example', 'b.example', 'c.example'];
  const first = Promise.allSettled(bad.map(look));
  for (const { fail } of running) fail();
  expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);

  running.length = 0;
  const again = bad.map(look);
  const good = look('good.example');
  await eventually(() => expect(hosts().toSorted()).toEqual(['a.example', 'good.example']));
  for (const { answer } of running) answer();
  expect(await good).toEqual(ADDRESSES);
  expect(await again[0]).toEqual(ADDRESSES);
  // The next one begins, and one that resolves again does not wait for it.
  await eventually(() => expect(hosts().at(-1)).toBe('b.example'));
  void look('a.example');
  expect(hosts().at(-1)).toBe('a.example');

  running[2]?.fail();
  await expect(again[1]).rejects.toThrow('EAI_AGAIN');
  await eventually(() => expect(hosts().at(-1)).toBe('c.example'));
  running.at(-1)?.answer();
  await again[2];
});
