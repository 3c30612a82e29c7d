import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type ConnectionOptions } from 'node:tls';
import { afterAll, expect, it } from 'vitest';
import type { TlsSource } from '#server/platform/tls-credentials.ts';
import { getRequest, idleSwarm, rawConnection } from '../helpers/hostile-clients.ts';
import { startListener } from '../helpers/listener.ts';
import { makePemFiles } from '../helpers/tls-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'license-desk-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function credentials(): TlsSource {
  const files = makePemFiles(folder, 'bounds');
  const current = {
    certificate: readFileSync(files.certificate, 'utf8'),
    key: readFileSync(files.key, 'utf8'),
  };
  return { current: () => current, onChange() {}, close() {} } as unknown as TlsSource;
}

function openTls(url: string) {
  const host = { host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false };
  // The types leave out what TLS takes from TCP.
  const options: ConnectionOptions & { allowHalfOpen: true } = { ...host, allowHalfOpen: true };
  return rawConnection(connect(options), 'secureConnect');
}

function call(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { rejectUnauthorized: false, agent: false }, (response: IncomingMessage) => {
      text(response).then(resolve, reject);
    });
    sent.on('error', reject).end();
  });
}

it('finishes a request over TLS that is under way at the stop', async () => {
  let held: ServerResponse | undefined;
  const { url, close } = await startListener((_request, response) => void (held = response), {
    tls: credentials(),
  });
  const reply = call(url);
  await expect.poll(() => held).toBeDefined();
  const closed = close();
  held!.end('finished');
  expect(await reply).toBe('finished');
  await closed;
});

it('closes connections that do not finish their handshake', async () => {
  const { url } = await startListener(() => {}, { tls: credentials(), tickMs: 10 });
  const plain = url.replace('https', 'http');
  const swarms = await Promise.all([idleSwarm(plain, 10), idleSwarm(plain, 10, '\u0016\u0003\u0001')]);
  await Promise.all(swarms.flat().map(({ ended }) => ended));
});

it('closes connections that send nothing after their handshake', async () => {
  const { url } = await startListener(() => {}, { tls: credentials(), tickMs: 10 });
  await (
    await openTls(url)
  ).ended;
});

it('runs pipelined requests over TLS one after the other, and refuses the malformed one behind them', async () => {
  let underWay = 0;
  let most = 0;
  const { url } = await startListener(
    (_request, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setImmediate(() => {
        underWay -= 1;
        response.end('ok');
      });
    },
    { tls: credentials() },
  );
  const client = await openTls(url);
  client.write(`${getRequest('/').repeat(200)}garbage\r\n\r\n`);
  await client.ended;
  expect([client.replies(), most]).toEqual([201, 1]);
  expect(client.received()).toMatch(/HTTP\/1\.1 400 [^]*"error_code":"invalid_request"[^}]*\}$/u);
  client.destroy();
});

it('makes room for a new client among connections that never finished their handshake', async () => {
  const { url } = await startListener((_request, response) => response.end('ok'), {
    tls: credentials(),
    limits: { total: 20, perAddress: 20, isProxy: () => false },
  });
  const swarm = await idleSwarm(url.replace('https', 'http'), 50);
  expect(await call(url)).toBe('ok');
  for (const client of swarm) client.destroy();
});
