import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import packageInfo from '../../package.json' with { type: 'json' };
import {
  type Attempt,
  createDeliverySender,
  type Delivery,
} from '#server/features/webhooks/delivery-sender.ts';
import type { Lookup } from '#server/features/webhooks/webhook-url.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { CertificateAuthority, type Identity } from './certificate-authority.ts';
import { startReceiver, startTcpServer } from './receiver.ts';

type SenderOptions = Parameters<typeof createDeliverySender>[0];

let authority: CertificateAuthority;
let good: Identity;
beforeAll(() => {
  authority = new CertificateAuthority();
  good = authority.issue({});
});
afterAll(() => authority.remove());

function newSender(options: Partial<SenderOptions> = {}) {
  const sender = createDeliverySender({
    allow: ['127.0.0.0/8'],
    extraCa: [authority.cert],
    timeoutMs: 10_000,
    ...options,
  });
  onTestFinished(() => sender.close());
  return sender;
}

const delivery = (url: string, other: Partial<Delivery> = {}): Delivery => ({
  url,
  headers: { 'X-License-Event': 'license.activated' },
  body: '{"event":"license.activated","holder":"Bücher"}',
  ca: null,
  ...other,
});

const sendTo = (url: string, options?: Partial<SenderOptions>): Promise<Attempt> =>
  newSender(options).send(delivery(url));

/** Sends within 2 s over a connection that is open already. @param answer to what is sent over it */
async function sendOverOpenConnection(answer: RequestListener): Promise<Attempt> {
  const receiver = await startReceiver(good, (request, response) => {
    if (request.url === '/hook') response.end();
    else answer(request, response);
  });
  const sender = newSender({ timeoutMs: 2000 });
  await eventually(async () =>
    expect(await sender.send(delivery(receiver.url))).toMatchObject({ delivered: true }),
  );
  return sender.send(delivery(`${receiver.url}/again`));
}

const failed = (errorClass: string, error: string | RegExp) => ({
  delivered: false,
  status: null,
  errorClass,
  error: typeof error === 'string' ? error : expect.stringMatching(error),
  retryAfterMs: null,
  reply: '',
});

describe('a delivery', () => {
  test('posts the body byte for byte, with its headers', async () => {
    const receiver = await startReceiver(good);
    const sent = delivery(receiver.url);
    expect(await newSender().send(sent)).toEqual({
      delivered: true,
      status: 200,
      errorClass: null,
      error: null,
      ms: expect.any(Number),
      remoteAddress: '127.0.0.1',
      reply: 'thanks',
      retryAfterMs: null,
    });
    const [{ request, body } = expect.fail()] = receiver.requests;
    expect([request.method, request.url, body]).toEqual(['POST', '/hook', sent.body]);
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(sent.body)),
      'user-agent': `License-Desk/${packageInfo.version}`,
      'x-license-event': 'license.activated',
    });
    expect(request.headers).not.toHaveProperty('accept-encoding');
  });

  test.each([200, 201, 202, 204, 299])('is delivered with %i', async (status) => {
    const receiver = await startReceiver(good, (_request, response) => response.writeHead(status).end());
    expect(await sendTo(receiver.url)).toMatchObject({ delivered: true, status, error: null });
  });

  test.each([300, 304, 400, 401, 404, 410, 429, 500, 503])('fails with %i, and once only', async (status) => {
    const receiver = await startReceiver(good, (_request, response) => response.writeHead(status).end('no'));
    expect(await sendTo(receiver.url)).toMatchObject({
      delivered: false,
      status,
      errorClass: 'http_status',
      error: `HTTP ${status}`,
    });
    expect(receiver.requests).toHaveLength(1);
  });

  test('reports the requested retry delay', async () => {
    const receiver = await startReceiver(good, (_request, response) => {
      response.writeHead(503, { 'retry-after': '120' }).end();
    });
    expect(await sendTo(receiver.url)).toMatchObject({ status: 503, retryAfterMs: 120_000 });
  });

  test('reaches a receiver with a registered CA, which is not trusted for other receivers', async () => {
    const partner = new CertificateAuthority();
    onTestFinished(() => partner.remove());
    const receiver = await startReceiver(partner.issue({}));
    const sender = newSender();
    expect(await sender.send(delivery(receiver.url, { ca: partner.cert }))).toMatchObject({
      delivered: true,
    });
    expect(await sender.send(delivery(receiver.url))).toMatchObject({ errorClass: 'certificate' });
    const own = await startReceiver(good);
    expect(await sender.send(delivery(own.url, { ca: partner.cert }))).toMatchObject({ delivered: true });
  });

  test('trusts an intermediate authority that was given, for this receiver only', async () => {
    const partner = new CertificateAuthority();
    onTestFinished(() => partner.remove());
    const ca = partner.createIntermediate();
    const receiver = await startReceiver(partner.issue({ isIndirect: true }));
    for (const options of [{}, { extraCa: [] }]) {
      const sender = newSender(options);
      expect(await sender.send(delivery(receiver.url, { ca }))).toMatchObject({ delivered: true });
      expect(await sender.send(delivery(receiver.url))).toMatchObject({ errorClass: 'certificate' });
    }
    expect(await sendTo(receiver.url, { extraCa: [ca] })).toMatchObject({ delivered: true });
  });

  test('does not trust an intermediate authority that the system lists without its root', async () => {
    const [partner, other] = [new CertificateAuthority(), new CertificateAuthority()];
    onTestFinished(() => {
      for (const each of [partner, other]) each.remove();
    });
    const listed = join(temporaryDirectory(), 'listed.pem');
    writeFileSync(listed, partner.createIntermediate());
    const receiver = await startReceiver(partner.issue({ isIndirect: true }));
    const program = `
      import { connect } from 'node:tls';
      import { createTrust } from ${JSON.stringify(import.meta.resolve('#server/features/webhooks/guarded-agent.ts'))};
      const secureContext = createTrust([${JSON.stringify(other.cert)}]);
      const socket = connect({ host: '127.0.0.1', port: ${receiver.port}, secureContext });
      const end = (result) => { console.log(result); process.exit(); };
      socket.once('secureConnect', () => end('trusted')).once('error', ({ code }) => end(code));`;
    const env = { ...process.env, SSL_CERT_FILE: listed, SSL_CERT_DIR: dirname(listed) };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      env,
    });
    expect(stdout.trim()).toBe('UNABLE_TO_GET_ISSUER_CERT_LOCALLY');
  });

  test('trusts a self-signed receiver whose certificate was given', async () => {
    const lone = authority.selfSigned();
    const receiver = await startReceiver(lone);
    expect(await newSender().send(delivery(receiver.url, { ca: lone.cert }))).toMatchObject({
      delivered: true,
    });
  });
});

describe('connections', () => {
  test('20 deliveries one after the other need one; 20 at once wait for none, and theirs are used again', async () => {
    const receiver = await startReceiver(good);
    const sender = newSender();
    for (let count = 0; count < 20; count++) await sender.send(delivery(receiver.url));
    expect([receiver.requests.length, receiver.connections]).toEqual([20, 1]);
    const attempts = await Promise.all(Array.from({ length: 20 }, () => sender.send(delivery(receiver.url))));
    expect(attempts.every(({ delivered }) => delivered)).toBe(true);
    const opened = receiver.connections;
    expect(opened).toBe(20);
    await Promise.all(Array.from({ length: 20 }, () => sender.send(delivery(receiver.url))));
    expect([receiver.requests.length, receiver.connections]).toEqual([60, opened]);
  });

  test('one that was closed at the moment of its reuse is replaced at once', async () => {
    const served = new WeakSet();
    const receiver = await startReceiver(good, (request, response) => {
      if (served.has(request.socket)) request.socket.destroy();
      else response.end('thanks');
      served.add(request.socket);
    });
    const sender = newSender();
    for (let count = 0; count < 4; count++) {
      expect(await sender.send(delivery(receiver.url))).toMatchObject({ delivered: true });
    }
    expect(receiver.connections).toBe(4);
  });

  /** A receiver with 12 open connections that cuts every one whose next request comes. */
  async function withOpenConnections(cut: (socket: Socket) => void) {
    const ids: string[] = [];
    let opening: (() => void)[] = [];
    const receiver = await startReceiver(good, (request, response) => {
      ids.push(request.headers['x-license-delivery'] as string);
      if (request.headers['x-license-delivery'] === 'cut') cut(request.socket);
      else opening.push(() => response.end('thanks'));
      if (opening.length < 12) return;
      for (const reply of opening) reply();
      opening = [];
    });
    const sender = newSender();
    const send = (id: string) =>
      sender.send(delivery(receiver.url, { headers: { 'X-License-Delivery': id } }));
    await Promise.all(Array.from({ length: 12 }, () => send('first')));
    expect(receiver.connections).toBe(12);
    return { receiver, send, sent: () => ids.filter((id) => id === 'cut').length };
  }

  test('a delivery whose connections are closed without a reply is sent twice at most', async () => {
    const { receiver, send, sent } = await withOpenConnections((socket) => socket.destroy());
    expect(await send('cut')).toMatchObject(failed('connection', 'connection was closed before an answer'));
    expect([sent(), receiver.connections]).toEqual([2, 13]);
  });

  test('a delivery whose reply has begun is not sent again', async () => {
    const { receiver, send, sent } = await withOpenConnections((socket) => socket.end('HTTP/1.1 200'));
    expect(await send('cut')).toMatchObject({ delivered: false, status: null });
    expect([sent(), receiver.connections]).toEqual([1, 12]);
  });

  test('a new one that is cut is a failure, and not tried again', async () => {
    const receiver = await startReceiver(good, (request) => request.socket.destroy());
    expect(await sendTo(receiver.url)).toMatchObject(
      failed('connection', 'connection was closed before an answer'),
    );
    expect(receiver.requests).toHaveLength(1);
  });

  test('are not shared by registrations with another authority', async () => {
    const receiver = await startReceiver(good);
    const sender = newSender();
    await sender.send(delivery(receiver.url));
    await sender.send(delivery(receiver.url, { ca: authority.cert }));
    expect(receiver.connections).toBe(2);
  });

  test('end when the sender is closed; attempts in progress end as stopped', async () => {
    const receiver = await startReceiver(good, () => undefined);
    const sender = newSender();
    const underWay = sender.send(delivery(receiver.url));
    while (receiver.requests.length === 0) await new Promise(setImmediate);
    const [{ request } = expect.fail()] = receiver.requests;
    const closed = new Promise((resolve) => request.socket.once('close', resolve));
    sender.close();
    expect(await underWay).toMatchObject({ delivered: false, errorClass: 'stopped' });
    await closed;
    expect(await sender.send(delivery(receiver.url))).toMatchObject({ errorClass: 'stopped' });
  });
});

describe('addresses', () => {
  test.each(['https://127.0.0.1', 'https://2130706433', 'https://0x7f.1', 'https://127.1', 'https://[::1]'])(
    '%s is refused at the connection too',
    async (origin) => {
      const canary = await startReceiver(good, undefined, { host: '::' });
      for (const allow of [[], ['0.0.0.0/0', '::/0']]) {
        expect(await sendTo(`${origin}:${canary.port}/`, { allow })).toMatchObject(
          failed('forbidden_address', /^address (127\.0\.0\.1|::1) is not public$/u),
        );
      }
      expect(canary.connections).toBe(0);
    },
  );

  test('a name that has moved to a private address is refused', async () => {
    const canary = await startReceiver(good);
    const lookup: Lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    const url = `https://partner.example:${canary.port}/`;
    expect(await sendTo(url, { allow: [], lookup })).toMatchObject(
      failed('forbidden_address', 'address 127.0.0.1 is not public'),
    );
    expect(canary.connections).toBe(0);
    expect(await sendTo(url, { lookup })).toMatchObject({ delivered: true, remoteAddress: '127.0.0.1' });
  });

  test.each(['http://127.0.0.1/', 'https://user:word@127.0.0.1/', 'nonsense', ''])(
    '%j is not sent to',
    async (url) => {
      expect(await sendTo(url)).toMatchObject({
        delivered: false,
        status: null,
        errorClass: 'forbidden_address',
      });
    },
  );

  test('a name that does not resolve', async () => {
    const lookup: Lookup = () =>
      Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
    expect(await sendTo('https://nobody.example/', { lookup })).toMatchObject(
      failed('name_resolution', 'name does not resolve'),
    );
  });
});

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    const canary = await startReceiver(good);
    const receiver = await startReceiver(good, (_request, response) => {
      response.writeHead(status, { location: canary.url }).end();
    });
    expect(await sendTo(receiver.url)).toMatchObject({
      delivered: false,
      status,
      errorClass: 'redirect',
      error: `redirect to ${canary.url} not followed`,
    });
    expect(canary.connections).toBe(0);
  });
});

describe('certificates and TLS', () => {
  test('an expired certificate', async () => {
    const expired = authority.issue({ from: '20250102000000Z', until: '20260102000000Z' });
    const receiver = await startReceiver(expired);
    expect(await sendTo(receiver.url)).toMatchObject(
      failed('certificate', 'certificate expired on 2026-01-02'),
    );
  });

  test('one that is not valid yet', async () => {
    const early = authority.issue({ from: '20900102000000Z' });
    const receiver = await startReceiver(early);
    expect(await sendTo(receiver.url)).toMatchObject(
      failed('certificate', 'certificate is not valid before 2090-01-02'),
    );
  });

  test('a self-signed one', async () => {
    const receiver = await startReceiver(authority.selfSigned());
    expect(await sendTo(receiver.url)).toMatchObject(
      failed('certificate', /^certificate is self-signed \(Lone Receiver\)/u),
    );
  });

  test('one for another name', async () => {
    const receiver = await startReceiver(authority.issue({ altNames: ['DNS:other.example'] }));
    const lookup: Lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    expect(await sendTo(`https://partner.example:${receiver.port}/`, { lookup })).toMatchObject(
      failed('certificate', 'certificate is for other.example, not for partner.example'),
    );
    expect(receiver.requests).toEqual([]);
  });

  test('one of an unknown authority, with and without that in the chain', async () => {
    const stranger = new CertificateAuthority();
    onTestFinished(() => stranger.remove());
    const leaf = stranger.issue({});
    for (const identity of [leaf, { ...leaf, cert: leaf.cert + stranger.cert }]) {
      const receiver = await startReceiver(identity);
      expect(await sendTo(receiver.url)).toMatchObject(
        failed('certificate', 'certificate is issued by an unknown authority (Test Authority)'),
      );
    }
  });

  test('TLS 1.1', async () => {
    const receiver = await startReceiver(good, undefined, {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    expect(await sendTo(receiver.url)).toMatchObject(failed('tls', /^TLS version too old/u));
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is spoken', async (version) => {
    const receiver = await startReceiver(good, undefined, { minVersion: version, maxVersion: version });
    expect(await sendTo(receiver.url)).toMatchObject({ delivered: true });
  });

  test('no TLS at all', async () => {
    const receiver = await startTcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
    expect(await sendTo(receiver.url)).toMatchObject(failed('tls', 'receiver does not use TLS on this port'));
  });

  test('a receiver that asks for a client certificate', async () => {
    const receiver = await startReceiver(good, undefined, { requestCert: true, ca: [authority.cert] });
    expect(await sendTo(receiver.url)).toMatchObject(failed('tls', 'receiver requires a client certificate'));
  });
});

describe('broken receivers', () => {
  test('nothing listens', async () => {
    const probe = await startTcpServer(() => undefined);
    const other = probe.url.replace('127.0.0.1', '127.0.0.9');
    expect(await sendTo(other)).toMatchObject({
      ...failed('connection', 'connection refused'),
      remoteAddress: '127.0.0.9',
    });
  });

  test('none of several addresses listens', async () => {
    const probe = await startTcpServer(() => undefined);
    const lookup: Lookup = async () => ['127.0.0.8', '127.0.0.9'].map((address) => ({ address, family: 4 }));
    expect(await sendTo(`https://partner.example:${probe.port}/`, { lookup })).toMatchObject(
      failed('connection', 'connection refused'),
    );
  });

  test('the connection is reset before the handshake, or closed', async () => {
    const resetting = await startTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await sendTo(resetting.url)).toMatchObject(
      failed('connection', /^connection was (reset|closed)/u),
    );
    const closing = await startTcpServer((socket) => socket.once('data', () => socket.end()));
    expect(await sendTo(closing.url)).toMatchObject(
      failed('connection', 'connection was closed during the TLS handshake'),
    );
  });

  test('what answers is not HTTP, or too long a head', async () => {
    const gibberish = await startReceiver(good, (request) => request.socket.end('gibberish\r\n\r\n'));
    expect(await sendTo(gibberish.url)).toMatchObject(failed('bad_reply', 'reply is not HTTP'));
    const wordy = await startReceiver(good, (request) => {
      request.socket.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`);
    });
    expect(await sendTo(wordy.url)).toMatchObject(failed('bad_reply', 'reply has headers that are too long'));
  });

  test('no answer', async () => {
    expect(await sendOverOpenConnection(() => undefined)).toMatchObject({
      ...failed('timeout', 'no answer within 2 s'),
      remoteAddress: '127.0.0.1',
    });
  });

  test('no handshake', async () => {
    const receiver = await startTcpServer(() => undefined);
    expect(await sendTo(receiver.url, { timeoutMs: 2000 })).toMatchObject(
      failed('timeout', /^no (TLS handshake|answer) within 2 s$/u),
    );
  });

  test('a name server that does not answer', async () => {
    const lookup: Lookup = () => new Promise(() => undefined);
    expect(await sendTo('https://partner.example/', { timeoutMs: 2000, lookup })).toMatchObject(
      failed('timeout', /^(name did not resolve|no answer) within 2 s$/u),
    );
  });

  test('headers that trickle in for ever', async () => {
    const attempt = await sendOverOpenConnection(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x-drip: 1\r\n'), 20);
      socket.once('close', () => clearInterval(drip));
    });
    expect(attempt).toMatchObject(failed('timeout', 'no answer within 2 s'));
  });
});

describe('replies', () => {
  test('are kept up to 4 KiB', async () => {
    const receiver = await startReceiver(good, (_request, response) => response.end('a'.repeat(4096)));
    expect(await sendTo(receiver.url)).toMatchObject({ delivered: true, reply: 'a'.repeat(4096) });
    // The cut goes through a character.
    const longer = await startReceiver(good, (_request, response) => response.end(`a${'ä'.repeat(3000)}`));
    expect((await sendTo(longer.url)).reply).toBe(`a${'ä'.repeat(2047)}`);
  });

  test('lose their control characters', async () => {
    const receiver = await startReceiver(good, (_request, response) => {
      response.writeHead(500).end('one\r\ntwo\0\u001B[31mred\u0085\u2028\u202Eend\n');
    });
    expect((await sendTo(receiver.url)).reply).toBe('one two [31mred end');
  });

  test('that never end are cut, and the delivery counts', async () => {
    const receiver = await startReceiver(good, (_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
      };
      response.on('drain', more);
      more();
    });
    const attempt = await sendTo(receiver.url);
    expect(attempt).toMatchObject({ delivered: true, status: 200, reply: 'x'.repeat(4096) });
  });

  test('whose body breaks off or stalls keep their status', async () => {
    const breaking = await startReceiver(good, (request) => {
      request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun');
    });
    expect(await sendTo(breaking.url)).toMatchObject({ delivered: true, status: 200, reply: 'begun' });
    const resetting = await startReceiver(good, (request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('begun', () => request.socket.destroy());
    });
    expect(await sendTo(resetting.url)).toMatchObject({ delivered: true, status: 200 });
    const stalling = await startReceiver(good, (_request, response) => {
      response.writeHead(500, { 'content-length': '100' }).write('begun');
    });
    expect(await sendTo(stalling.url)).toMatchObject({
      delivered: false,
      status: 500,
      error: 'HTTP 500',
      reply: 'begun',
    });
  });

  test('that are compressed stay so: 50 MB of zeros cost less than 20 MB of memory', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const receiver = await startReceiver(good, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const sender = newSender();
    await sender.send(delivery(receiver.url));
    const before = process.memoryUsage().rss;
    expect(await sender.send(delivery(receiver.url))).toMatchObject({
      delivered: true,
      reply: '(compressed, not shown)',
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(20_000_000);
  });

  test('of random bytes do no harm', async () => {
    const noise = randomBytes(4000);
    const receiver = await startReceiver(good, (_request, response) => response.end(noise));
    const attempt = await sendTo(receiver.url);
    expect(attempt.delivered).toBe(true);
    expect(attempt.reply).toMatch(/^\P{Cc}*$/u);
    expect(attempt.reply.isWellFormed()).toBe(true);
  });
});
