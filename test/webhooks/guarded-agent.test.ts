import type { LookupAddress } from 'node:dns';
import { get, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTrust, ForbiddenAddressError, GuardedAgent } from '#server/features/webhooks/guarded-agent.ts';
import type { Lookup } from '#server/features/webhooks/webhook-url.ts';
import { CertificateAuthority, type Identity } from './certificate-authority.ts';
import { startReceiver, startTcpServer } from './receiver.ts';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

let authority: CertificateAuthority;
let good: Identity;
beforeAll(() => {
  authority = new CertificateAuthority();
  good = authority.issue({ altNames: ['DNS:partner.example', 'IP:127.0.0.1', 'IP:::1'] });
});
afterAll(() => authority.remove());

const found = (...addresses: string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

const unasked: Lookup = () => Promise.reject(new Error('a literal was looked up'));

function newAgent(allow: string[], lookup: Lookup = unasked, extraCa = [authority.cert]): GuardedAgent {
  const agent = new GuardedAgent({ allow, lookup, trust: createTrust(extraCa) });
  onTestFinished(() => agent.destroy());
  return agent;
}

function fetchText(options: RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    get(options, (response) => resolve(text(response))).on('error', reject);
  });
}

describe('literal addresses', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['[::1]', '::1'],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1'],
    ['::ffff:7f00:1', '::ffff:7f00:1'],
    ['0.0.0.0', '0.0.0.0'],
    ['::', '::'],
    ['64:ff9b::7f00:1', '64:ff9b::7f00:1'],
    ['169.254.169.254', '169.254.169.254'],
    ['10.0.0.1', '10.0.0.1'],
  ])('%s is not dialled', async (host, address) => {
    const canary = await startReceiver(good, undefined, { host: '::' });
    const agent = newAgent([]);
    const failure = fetchText({ host, port: canary.port, agent });
    await expect(failure).rejects.toThrow(ForbiddenAddressError);
    await expect(failure).rejects.toMatchObject({ address });
    expect(canary.connections).toBe(0);
  });

  test.each(['2130706433', '0177.0.0.1', '0x7f.1', '127.1', 'localhost'])(
    '%s, which the system itself resolves, is not dialled',
    async (host) => {
      const canary = await startReceiver(good, undefined, { host: '::' });
      const { lookup } = await import('node:dns/promises');
      const failure = fetchText({ host, port: canary.port, agent: newAgent([], lookup) });
      await expect(failure).rejects.toThrow(ForbiddenAddressError);
      expect(canary.connections).toBe(0);
    },
  );

  test('one that is allowed is dialled, and its certificate is judged by address', async () => {
    const receiver = await startReceiver(good);
    expect(await fetchText({ host: '127.0.0.1', port: receiver.port, agent: newAgent(LOOPBACK) })).toBe(
      'thanks',
    );
    const other = await startReceiver(authority.issue({ altNames: ['IP:127.0.0.2'] }));
    const failure = fetchText({ host: '127.0.0.1', port: other.port, agent: newAgent(LOOPBACK) });
    await expect(failure).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  test('after a refusal the agent still serves what waits', async () => {
    const agent = newAgent([]);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 7 }, () => fetchText({ host: '127.0.0.1', port: 9, agent })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 'rejected'));
  });
});

describe('names', () => {
  test('one that turns from a public address to a private one gets no connection', async () => {
    const canary = await startReceiver(good);
    const answers = [found('8.8.8.8'), found('127.0.0.1')];
    const lookup: Lookup = async () => answers.shift() ?? [];
    // Registration saw the first answer; the connection sees the second.
    expect(await lookup('partner.example', { all: true })).toEqual(found('8.8.8.8'));
    const agent = newAgent([], lookup);
    const failure = fetchText({ host: 'partner.example', port: canary.port, agent });
    await expect(failure).rejects.toThrow('address 127.0.0.1 is not public');
    expect(canary.connections).toBe(0);
  });

  test.each([
    [['127.0.0.1', '8.8.8.8']],
    [['8.8.8.8', '127.0.0.1']],
    [['::ffff:127.0.0.1']],
    [['8.8.8.8', '64:ff9b::7f00:1']],
  ])('one with the addresses %j gets none', async (addresses) => {
    const canary = await startReceiver(good);
    const agent = newAgent([], async () => found(...addresses));
    const failure = fetchText({ host: 'partner.example', port: canary.port, agent });
    await expect(failure).rejects.toThrow(ForbiddenAddressError);
    expect(canary.connections).toBe(0);
  });

  test('each connection asks again', async () => {
    const receiver = await startReceiver(good, (_request, response) => {
      response.setHeader('connection', 'close').end('thanks');
    });
    const answers = [found('127.0.0.1'), found('127.0.0.1'), found('10.0.0.1')];
    const agent = newAgent(LOOPBACK, async () => answers.shift() ?? []);
    const options = { host: 'partner.example', port: receiver.port, agent };
    expect(await fetchText(options)).toBe('thanks');
    expect(await fetchText(options)).toBe('thanks');
    await expect(fetchText(options)).rejects.toThrow('address 10.0.0.1 is not public');
  });

  test('the next address is tried when one refuses', async () => {
    const receiver = await startReceiver(good);
    for (const addresses of [
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.2', '::1', '127.0.0.1'],
    ]) {
      const agent = newAgent(LOOPBACK, async () => found(...addresses));
      expect(await fetchText({ host: 'partner.example', port: receiver.port, agent })).toBe('thanks');
    }
  });

  test('the TLS server name and the certificate check are for the name, without its final dot', async () => {
    const names: unknown[] = [];
    const receiver = await startReceiver(good, (request, response) => {
      names.push((request.socket as { servername?: unknown }).servername);
      response.end('thanks');
    });
    const lookup: Lookup = async () => found('127.0.0.1');
    await fetchText({ host: 'partner.example', port: receiver.port, agent: newAgent(LOOPBACK, lookup) });
    await fetchText({ host: 'partner.example.', port: receiver.port, agent: newAgent(LOOPBACK, lookup) });
    await fetchText({ host: '127.0.0.1', port: receiver.port, agent: newAgent(LOOPBACK) });
    expect(names).toEqual(['partner.example', 'partner.example', false]);
    const failure = fetchText({
      host: 'other.example',
      port: receiver.port,
      agent: newAgent(LOOPBACK, lookup),
    });
    await expect(failure).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  test('a name without addresses, and one that does not resolve', async () => {
    for (const lookup of [
      async () => [],
      () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
    ]) {
      const failure = fetchText({ host: 'nobody.example', port: 443, agent: newAgent(LOOPBACK, lookup) });
      await expect(failure).rejects.toMatchObject({ code: 'ENOTFOUND' });
    }
  });
});

describe('TLS', () => {
  test('cannot be weakened by a request', async () => {
    const receiver = await startReceiver(authority.selfSigned());
    const failure = fetchText({
      host: '127.0.0.1',
      port: receiver.port,
      agent: newAgent(LOOPBACK),
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
      minVersion: 'TLSv1',
    });
    await expect(failure).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  test('a request cannot lead the agent to a Unix socket or past the guard', async () => {
    const canary = await startReceiver(good);
    const failure = fetchText({
      host: '127.0.0.1',
      port: canary.port,
      agent: newAgent([]),
      socketPath: '/nowhere/socket',
      lookup: (_host, _options, callback) => callback(null, '127.0.0.1', 4),
    });
    await expect(failure).rejects.toThrow(ForbiddenAddressError);
    expect(canary.connections).toBe(0);
  });

  test('an additional CA is trusted only for its own receiver', async () => {
    const other = new CertificateAuthority();
    onTestFinished(() => other.remove());
    const receiver = await startReceiver(other.issue({}));
    const options = { host: '127.0.0.1', port: receiver.port };
    expect(await fetchText({ ...options, agent: newAgent(LOOPBACK, unasked, [other.cert]) })).toBe('thanks');
    const both = `${authority.cert}${other.cert}`;
    expect(await fetchText({ ...options, agent: newAgent(LOOPBACK, unasked, [both]) })).toBe('thanks');
    const failure = fetchText({ ...options, agent: newAgent(LOOPBACK) });
    await expect(failure).rejects.toMatchObject({ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' });
  });

  test('a proxy in the environment is not asked', async () => {
    const proxy = await startTcpServer(() => undefined);
    const receiver = await startReceiver(good);
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']) {
      const before = process.env[name];
      process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy.port}`;
      onTestFinished(() => {
        if (before === undefined) delete process.env[name];
        else process.env[name] = before;
      });
    }
    expect(await fetchText({ host: '127.0.0.1', port: receiver.port, agent: newAgent(LOOPBACK) })).toBe(
      'thanks',
    );
    expect(proxy.connections).toBe(0);
  });
});
