import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { getRequest, idleSwarm, openRaw } from '../helpers/hostile-clients.ts';
import { startListener } from '../helpers/listener.ts';
import { httpCall, readReply } from '../helpers/raw-http.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

/** Answers `/`; holds every other request. */
async function start(total: number, perAddress: number, proxy?: string) {
  const held: ServerResponse[] = [];
  const limits = { total, perAddress, isProxy: (address: string) => address === proxy };
  const listener = await startListener(
    (request, response) => {
      if (request.url === '/') response.end('ok');
      else held.push(response);
    },
    // No deadline ends a client that waits.
    { limits, tickMs: 60_000 },
  );
  const hold = async (count: number, from?: string) => {
    const wanted = held.length + count;
    for (let number = 0; number < count; number += 1) {
      const client = await openRaw(listener.url, from);
      onTestFinished(client.destroy);
      client.write(getRequest('/hold'));
    }
    await expect.poll(() => held.length).toBe(wanted);
  };
  return { ...listener, hold, held };
}

it('admits a new client by closing the oldest unused connection', async () => {
  const { url } = await start(100, 3);
  const [first, ...others] = await idleSwarm(url, 3);
  expect((await httpCall(url)).status).toBe(200);
  await first!.ended;
  // It closed only one, which the newest has left again.
  others[0]!.write(getRequest('/'));
  await others[0]!.until(({ replies }) => replies() === 1);
});

it('prefers to close unused connections to those between two requests', async () => {
  const { url } = await start(100, 2);
  const used = await openRaw(url);
  used.write(getRequest('/'));
  await used.until(({ replies }) => replies() === 1);
  const unused = await openRaw(url);
  expect((await httpCall(url)).status).toBe(200);
  await unused.ended;
  used.write(getRequest('/'));
  await used.until(({ replies }) => replies() === 2);
  used.destroy();
});

it('refuses with 503 and Retry-After while every connection of the address is busy', async () => {
  const { url, hold, held } = await start(100, 2);
  await hold(2);
  const refused = await openRaw(url);
  await refused.ended;
  const reply = readReply(refused.received());
  expectFailure(reply, 'overloaded');
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  const freed = new Promise((resolve) => {
    held[0]!.once('close', resolve);
  });
  held[0]!.end('done');
  await freed;
  expect((await httpCall(url)).status).toBe(200);
});

it('counts each address for itself', async () => {
  const { url, hold } = await start(100, 2);
  await hold(2, '127.0.0.2');
  expect((await httpCall(url)).status).toBe(200);
});

it('counts the connections of a trusted proxy against the total only', async () => {
  const { url, hold } = await start(100, 2, '127.0.0.1');
  await hold(5);
  expect((await httpCall(url)).status).toBe(200);
});

it('makes room in total at the cost of the address with the most connections', async () => {
  const { url, hold } = await start(4, 4);
  await hold(1, '127.0.0.3');
  const swarm = await Promise.all([1, 2].map(() => openRaw(url, '127.0.0.2')));
  const alone = await openRaw(url, '127.0.0.4');
  expect((await httpCall(url)).status).toBe(200);
  await swarm[0]!.ended;
  alone.write(getRequest('/'));
  await alone.until(({ replies }) => replies() === 1);
});

it('stays open to clients while a swarm many times the limit connects', async () => {
  const { url } = await start(50, 50);
  const swarm = await idleSwarm(url, 1000);
  expect((await httpCall(url)).status).toBe(200);
  for (const client of swarm) client.destroy();
});
