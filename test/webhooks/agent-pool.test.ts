import { expect, onTestFinished, test } from 'vitest';
import { createAgentPool } from '#server/features/webhooks/agent-pool.ts';
import type { GuardedAgent } from '#server/features/webhooks/guarded-agent.ts';

function newPool() {
  const pool = createAgentPool({ allow: [], extraCa: [], lookup: async () => [] });
  onTestFinished(() => pool.close());
  const agentOf = (origin: string, ca: string | null = null): Promise<GuardedAgent> =>
    pool.use(origin, ca, async (agent) => agent);
  return { pool, agentOf };
}

test('each receiver and authority has an agent, which it keeps', async () => {
  const { pool, agentOf } = newPool();
  const first = await agentOf('https://a.example');
  expect(await agentOf('https://a.example')).toBe(first);
  expect(await agentOf('https://a.example:8443')).not.toBe(first);
  expect(await agentOf('https://b.example')).not.toBe(first);
  expect(await agentOf('https://a.example', 'some authority')).not.toBe(first);
  expect(pool.size()).toBe(4);
});

test('the least recently used receiver is removed, unless it is in use', async () => {
  const { pool, agentOf } = newPool();
  let finish = () => {};
  const busy = pool.use('https://busy.example', null, async (agent) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return agent;
  });
  const idle = await agentOf('https://idle.example');
  for (let count = 0; count < 200; count++) await agentOf(`https://${count}.example`);
  expect(pool.size()).toBe(64);
  expect(await agentOf('https://idle.example')).not.toBe(idle);
  const again = await agentOf('https://busy.example');
  finish();
  expect(await busy).toBe(again);
});

test('a failure leaves the place free', async () => {
  const { pool, agentOf } = newPool();
  const failure = pool.use('https://a.example', null, () => Promise.reject(new Error('no')));
  await expect(failure).rejects.toThrow('no');
  for (let count = 0; count < 64; count++) await agentOf(`https://${count}.example`);
  expect(pool.size()).toBe(64);
});
