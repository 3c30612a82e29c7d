import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { exchangeBytes, httpCall, jsonCall, readReply } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const ROOT = '/license/api/svc';
const server = sharedServer();

const post = (headers: string, body = '') =>
  `POST ${ROOT}/authorize/ HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`;
const json = 'Content-Type: application/json\r\n';

/** Bytes that no client library would send. */
const BROKEN: [string, string | Buffer][] = [
  ['words', 'garbage\r\n\r\n'],
  ['blank lines and words', '\r\n\r\nhello there\r\n\r\n'],
  ['bytes', Buffer.from(Array.from({ length: 64 }, (_, at) => 255 - at))],
  ['a TLS greeting', Buffer.from('160301020001000', 'hex')],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an unknown version', `GET ${ROOT}/health/ HTTP/9.9\r\nHost: x\r\n\r\n`],
  ['an unknown method', `FETCH ${ROOT}/health/ HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['no Host', `GET ${ROOT}/health/ HTTP/1.1\r\nConnection: close\r\n\r\n`],
  ['two Hosts', `GET ${ROOT}/health/ HTTP/1.1\r\nHost: x\r\nhOST: y\r\nConnection: close\r\n\r\n`],
  ['the same Host twice', `GET ${ROOT}/health/ HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n`],
  ['two Hosts in HTTP/1.0', `GET ${ROOT}/health/ HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n`],
  ['a header without a name', `GET ${ROOT}/health/ HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n`],
  ['a header with a NUL', `GET ${ROOT}/health/ HTTP/1.1\r\nHost: x\r\nA: \u0000\r\n\r\n`],
  ['two lengths', post(`${json}Content-Length: 2\r\nContent-Length: 3`, '{}')],
  ['the same length twice', post(`${json}Content-Length: 2\r\nContent-Length: 2`, '{}')],
  ['a list of lengths', post(`${json}Content-Length: 2, 2`, '{}')],
  ['a length with a sign', post(`${json}Content-Length: +2`, '{}')],
  ['chunks and a length', post(`${json}Transfer-Encoding: chunked\r\nContent-Length: 2`, '0\r\n\r\n')],
  ['chunks that are not the last encoding', post(`${json}Transfer-Encoding: chunked, gzip`, '0\r\n\r\n')],
  ['chunks twice', post(`${json}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked`, '0\r\n\r\n')],
  ['a folded header', `GET ${ROOT}/health/ HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\nConnection: close\r\n\r\n`],
  ['a blank before the colon', post(`${json}Content-Length : 2`, '{}')],
  ['a length and chunks', post(`${json}Content-Length: 2\r\nTransfer-Encoding: chunked`, '0\r\n\r\n')],
  ['a negative length', post(`${json}Content-Length: -1`)],
  ['a length that is no number', post(`${json}Content-Length: two`, '{}')],
  ['endless headers', `GET ${ROOT}/health/ HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(100_000)}\r\n\r\n`],
  ['very many headers', `GET ${ROOT}/health/ HTTP/1.1\r\nHost: x\r\n${'A: x\r\n'.repeat(20_000)}\r\n`],
  ['an endless path', `GET ${ROOT}/${'x'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
];

describe.each(['api', 'adminOrigin'] as const)('the listener of %s', (listener) => {
  it.each(BROKEN)('answers %s in the envelope, and keeps running', async (_name, bytes) => {
    const reply = readReply(await exchangeBytes(server[listener], bytes));
    expectFailure(reply, 'invalid_request', reply.status === 431 ? 431 : 400);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await server.get('/health/')).status).toBe(200);
  });

  it('gives replies to broken requests an id, too', async () => {
    const reply = readReply(await exchangeBytes(server[listener], 'garbage\r\n\r\n'));
    expect(reply.headers.get('x-request-id')).toEqual(expect.any(String));
    expect(reply.body.request_id).toBe(reply.headers.get('x-request-id'));
  });

  it('refuses to be a tunnel, in the envelope', async () => {
    const { hostname } = new URL(server[listener]);
    const reply = readReply(
      await exchangeBytes(server[listener], `CONNECT ${hostname}:1 HTTP/1.1\r\nHost: ${hostname}:1\r\n\r\n`),
    );
    expect(reply.body).toMatchObject({ ok: false });
    expect([400, 404, 405]).toContain(reply.status);
  });
});

describe('the wire', () => {
  it('answers a body whose chunks cannot be read', async () => {
    const bytes = post(`${json}Transfer-Encoding: chunked`, 'ZZ\r\n{}\r\n');
    expectFailure(readReply(await exchangeBytes(server.api, bytes)), 'invalid_request');
  });

  it('refuses a body whose encoding it does not know', async () => {
    const bytes = post(`${json}Transfer-Encoding: xchunked`, '0\r\n\r\n');
    expectFailure(readReply(await exchangeBytes(server.api, bytes)), 'invalid_request');
  });

  it('answers a body that ends too early', async () => {
    const reply = readReply(
      await exchangeBytes(server.api, post(`${json}Content-Length: 100`, '{"license'), true),
    );
    expectFailure(reply, 'invalid_request');
  });

  it('answers an unsupported Expect in the envelope', async () => {
    const reply = await jsonCall(`${server.api}/health/`, { headers: { expect: 'the-impossible' } });
    expect(reply.body).toMatchObject({ ok: false, error_code: 'invalid_request' });
    expect(reply.headers.has('x-request-id')).toBe(true);
  });

  it('sends 100 Continue to a client that waits for it', async () => {
    const head = post(`${json}Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2`, '{}');
    const bytes = await exchangeBytes(server.api, head);
    expect(bytes).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /u);
  });

  it('serves HTTP/1.0, which knows no Host', async () => {
    const bytes = await exchangeBytes(server.api, `GET ${ROOT}/health/ HTTP/1.0\r\n\r\n`);
    expect(readReply(bytes)).toMatchObject({ status: 200, body: { ok: true } });
  });

  it('serves absolute addresses, as proxies send them', async () => {
    const bytes = await exchangeBytes(
      server.api,
      `GET http://license.example${ROOT}/health/ HTTP/1.1\r\nHost: license.example\r\nConnection: close\r\n\r\n`,
    );
    expect(readReply(bytes)).toMatchObject({ status: 200, body: { ok: true } });
  });

  it('serves requests that come in one packet, in order', async () => {
    const bytes = await exchangeBytes(
      server.api,
      `GET ${ROOT}/health/ HTTP/1.1\r\nHost: x\r\nX-Request-Id: first\r\n\r\n` +
        `GET ${ROOT}/public-key/ HTTP/1.1\r\nHost: x\r\nX-Request-Id: second\r\nConnection: close\r\n\r\n`,
    );
    expect(bytes.match(/x-request-id: \w+/giu)?.map((line) => line.toLowerCase())).toEqual([
      'x-request-id: first',
      'x-request-id: second',
    ]);
  });

  it('keeps a connection that idles for longer than proxies do', async () => {
    const response = await fetch(`${server.api}/health/`);
    await response.arrayBuffer();
    expect(response.headers.get('keep-alive')).toBe('timeout=65');
  });

  it('sends no body after the headers of a HEAD', async () => {
    for (const path of ['/health/', '/renew/', '/nothing/']) {
      const bytes = await exchangeBytes(
        server.api,
        `HEAD ${ROOT}${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
      expect(bytes).toMatch(/\r\n\r\n$/u);
      expect(bytes.match(/\r\n\r\n/gu)).toHaveLength(1);
    }
  });

  it('survives clients that leave in the middle', async () => {
    const { hostname, port } = new URL(server.api);
    for (let time = 0; time < 20; time += 1) {
      await new Promise<void>((resolve) => {
        const socket = connect({ host: hostname, port: Number(port) }, () => {
          socket.write(post(`${json}Content-Length: 100`, '{"lic'), () => socket.resetAndDestroy());
        });
        socket.on('error', () => {});
        socket.on('close', () => resolve());
      });
    }
    expect((await server.get('/health/')).status).toBe(200);
  });

  it('ignores an offer to switch protocols', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    expect((await httpCall(`${server.api}/health/`, { headers })).status).toBe(200);
  });
});
