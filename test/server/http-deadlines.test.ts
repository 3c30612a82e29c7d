import { expect, it } from 'vitest';
import { getRequest, idleSwarm, openRaw, unfinishedBody } from '../helpers/hostile-clients.ts';
import { startListener } from '../helpers/listener.ts';
import { httpCall, readReply } from '../helpers/raw-http.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

/** A hundredth of the real one: a body has 300 ms instead of 30 s. */
const FAST = { tickMs: 10 };

/** Answers when the body has come. */
const start = (options = FAST) =>
  startListener((request, response) => {
    request.on('error', () => {});
    request.resume().on('end', () => response.end('ok'));
  }, options);

const statusOf = (received: string) => Number(/^HTTP\/1\.1 (\d+)/u.exec(received)?.[1]);

it('closes connections that never send a request, without a reply', async () => {
  const { url } = await start();
  const swarm = await idleSwarm(url, 20);
  await Promise.all(swarm.map(({ ended }) => ended));
  expect(swarm.map(({ received }) => received()).join('')).toBe('');
});

it('answers 408 to headers that do not come, and closes', async () => {
  const { url } = await start();
  const swarm = await idleSwarm(url, 20, 'GET / HTTP/1.1\r\nHo');
  await Promise.all(swarm.map(({ gone }) => gone()));
  for (const { received } of swarm) expectFailure(readReply(received()), 'invalid_request', 408);
});

it('answers 408 to a body that does not come, and closes', async () => {
  const { url } = await start();
  const client = await unfinishedBody(url, '/');
  await client.gone();
  expectFailure(readReply(client.received()), 'invalid_request', 408);
});

it('answers 408 to a body that trickles in', async () => {
  const { url } = await start();
  const client = await unfinishedBody(url, '/', { length: 1_000_000 });
  const timer = setInterval(() => client.write(' '), 20);
  await client.ended;
  clearInterval(timer);
  expect(statusOf(client.received())).toBe(408);
});

it('waits for a body that makes progress, however long it is', async () => {
  const { url } = await start();
  const [pieces, size] = [40, 64 * 1024];
  const client = await unfinishedBody(url, '/', { length: 1 + pieces * size });
  const other = await openRaw(url);
  for (let piece = 0; piece < pieces; piece += 1) client.write('x'.repeat(size));
  await client.until(({ replies }) => replies() === 1);
  expect(statusOf(client.received())).toBe(200);
  client.destroy();
  await other.ended;
});

it('does not count the time in which the server is the slow one', async () => {
  let finish = () => {};
  const { url } = await startListener((request, response) => {
    // Nothing is read until the other connection has been closed for its idleness.
    finish = () => void request.resume().on('end', () => response.end('ok'));
  }, FAST);
  const length = 1_000_000;
  const client = await unfinishedBody(url, '/', { length });
  client.write('x'.repeat(length - 1));
  for (let round = 0; round < 4; round += 1) await (await openRaw(url)).ended;
  finish();
  await client.until(({ replies }) => replies() === 1);
  expect(statusOf(client.received())).toBe(200);
  client.destroy();
});

it('closes a refused connection although its client keeps sending', async () => {
  const { url } = await startListener((_request, response) => {
    response.writeHead(401).end('no');
  }, FAST);
  const client = await unfinishedBody(url, '/', { length: 1_000_000 });
  await client.gone();
  expect(statusOf(client.received())).toBe(401);
});

it('keeps a refused connection whose body arrives after all', async () => {
  const { url } = await startListener((_request, response) => {
    response.writeHead(401, { 'content-length': '2' }).end('no');
  });
  const client = await unfinishedBody(url, '/');
  await client.until(({ replies }) => replies() === 1);
  client.write('x'.repeat(999) + getRequest('/'));
  await client.until(({ replies }) => replies() === 2);
  client.destroy();
});

it('closes the connection of a malformed request although its client keeps it open', async () => {
  const { url } = await start();
  const swarm = await idleSwarm(url, 20, 'garbage\r\n\r\n');
  await Promise.all(swarm.map(({ gone }) => gone()));
  for (const { received } of swarm) expect(statusOf(received())).toBe(400);
});

it('keeps a connection that has been used for longer than one that has not', async () => {
  const { url } = await start();
  const used = await openRaw(url);
  used.write(getRequest('/'));
  await used.until(({ replies }) => replies() === 1);
  await (
    await openRaw(url)
  ).ended;
  used.write(getRequest('/'));
  await used.until(({ replies }) => replies() === 2);
  used.destroy();
});

it('keeps a slow request waiting for its reply', async () => {
  const { url } = await startListener((request, response) => {
    if (request.url === '/quick') response.end('quick');
    // As long as an unused connection lives, three times.
    else
      void (async () => {
        for (let round = 0; round < 3; round += 1) await (await openRaw(url)).ended;
        response.end('slow');
      })();
  }, FAST);
  expect((await httpCall(`${url}/`)).text).toBe('slow');
});
