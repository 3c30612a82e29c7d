import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { getRequest, idleSwarm, openRaw, pipeline } from '../helpers/hostile-clients.ts';
import { startListener } from '../helpers/listener.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';

const HEALTH = '/license/api/svc/health/';
const server = sharedServer();

function requestIds(received: string): number[] {
  return [...received.matchAll(/^X-Request-Id: (\d+)\r$/gimu)].map(([, id]) => Number(id));
}

it('answers 2,000 pipelined requests, all of them and in order', async () => {
  const flood = await pipeline(server.api, HEALTH, 2000);
  await flood.until(({ replies }) => replies() === 2000);
  expect(requestIds(flood.received())).toEqual(Array.from({ length: 2000 }, (_, number) => number));
  flood.destroy();
});

it.each(['api', 'adminOrigin'] as const)(
  'answers another client on %s long before a flood of pipelined requests is over',
  async (listener) => {
    const flood = await pipeline(server.api, HEALTH, 2000);
    await flood.until(({ replies }) => replies() > 0);
    const reply = await httpCall(new URL(listener === 'api' ? HEALTH : '/', server[listener]).href);
    expect(reply.status).toBe(200);
    expect(flood.replies()).toBeLessThan(1000);
    flood.destroy();
  },
);

it('starts the requests of a connection one after the other', async () => {
  let underWay = 0;
  let most = 0;
  const { url } = await startListener((_request, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    setImmediate(() => {
      underWay -= 1;
      response.end('ok');
    });
  });
  const flood = await pipeline(url, '/', 100);
  await flood.until(({ replies }) => replies() === 100);
  expect(most).toBe(1);
  flood.destroy();
});

it('starts no request of a client that has left', async () => {
  const held: ServerResponse[] = [];
  const { url } = await startListener((request, response) => {
    if (request.url === '/other') response.end('ok');
    else held.push(response);
  });
  const flood = await pipeline(url, '/', 500);
  await expect.poll(() => held.length).toBe(1);
  const left = new Promise((resolve) => {
    held[0]!.once('close', resolve);
  });
  flood.destroy();
  held[0]!.end('x'.repeat(10_000_000));
  await left;
  await httpCall(`${url}/other`);
  expect(held).toHaveLength(1);
});

it('stops reading and answering while a client does not take its replies', async () => {
  let started = 0;
  const { url } = await startListener((request, response) => {
    if (request.url !== '/other') started += 1;
    response.end(request.url === '/other' ? 'ok' : 'x'.repeat(500_000));
  });
  const flood = await pipeline(url, '/', 100);
  flood.pause();
  for (let call = 0; call < 50; call += 1) await httpCall(`${url}/other`);
  // As many replies as the kernel buffers.
  expect(started).toBeLessThan(50);
  flood.resume();
  await flood.until(({ replies }) => replies() === 100);
  flood.destroy();
});

it('answers what a client sent before it closed its side', async () => {
  const { url } = await startListener((_request, response) => {
    response.end('ok');
  });
  const client = await pipeline(url, '/', 50);
  client.end();
  await client.ended;
  expect(client.replies()).toBe(50);
});

it('answers pipelined requests with bodies, each with its own', async () => {
  const { url } = await startListener((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => response.end(`<${body.length}:${body[0]}>`));
  });
  const client = await openRaw(url);
  const sizes = Array.from({ length: 40 }, (_, number) => 1 + ((number * 977) % 5000));
  const letterOf = (number: number) => String.fromCodePoint(97 + (number % 26));
  client.write(
    sizes
      .map(
        (size, number) =>
          `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n${letterOf(number).repeat(size)}`,
      )
      .join(''),
  );
  await client.until(({ received }) => [...received().matchAll(/<\d+:\w>/gu)].length === sizes.length);
  const bodies = [...client.received().matchAll(/<\d+:\w>/gu)].map(([body]) => body);
  expect(bodies).toEqual(sizes.map((size, number) => `<${size}:${letterOf(number)}>`));
  client.destroy();
});

it('answers the requests before a malformed one, then refuses that, then closes', async () => {
  const { url } = await startListener((_request, response) => {
    setImmediate(() => response.end('ok'));
  });
  const client = await openRaw(url);
  client.write(`${getRequest('/').repeat(3)}garbage\r\n\r\n${getRequest('/')}`);
  await client.ended;
  const statuses = [...client.received().matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => Number(status));
  expect(statuses).toEqual([200, 200, 200, 400]);
  client.destroy();
});

it('survives a tunnel request whose client resets the connection', async () => {
  const swarm = await idleSwarm(server.api, 20, 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n');
  for (const client of swarm.slice(10)) client.reset();
  await Promise.all(swarm.slice(0, 10).map(({ gone }) => gone()));
  expect((await server.get('/health/')).status).toBe(200);
});

it('closes connections with unread bytes in excess, those of the address with the most of them first', async () => {
  const held: ServerResponse[] = [];
  const { url } = await startListener((_request, response) => void held.push(response), {
    limits: { total: 100, perAddress: 100, isProxy: () => false, unreadBytes: 20_000 },
  });
  const hold = async (from: string, requests = 1) => {
    const wanted = held.length + 1;
    const client = await openRaw(url, from);
    onTestFinished(client.destroy);
    client.write(getRequest('/').repeat(requests));
    await expect.poll(() => held.length).toBe(wanted);
    return client;
  };
  const floods = [await hold('127.0.0.2'), await hold('127.0.0.2')];
  await hold('127.0.0.2');
  await hold('127.0.0.3');
  await hold('127.0.0.3', 100);
  for (const flood of floods) flood.write(getRequest('/').repeat(10_000));
  await Promise.all(floods.map(({ ended }) => ended));
  expect(held.map(({ req }) => req.socket.destroyed)).toEqual([true, true, false, false, false]);
});
