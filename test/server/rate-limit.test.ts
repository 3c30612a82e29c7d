import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { publicContract } from '#server/contract.ts';
import { type Clock, systemClock } from '#server/platform/clock.ts';
import { newBearer, newFloatingLicense, newLease, newLicense } from '../helpers/contract-calls.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { expectCommonHeaders, expectFailure } from '../helpers/strict-reply.ts';
import { type Reply, startTestServer, type TestServer } from '../helpers/test-server.ts';

let server: TestServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function start(flags: Record<string, string>, clock: Clock = systemClock): Promise<TestServer> {
  server = await startTestServer({ flags, clock });
  return server;
}

const ask = (
  headers: Record<string, string> = {},
  body: unknown = { token: 'ldt_unknown' },
  path = '/authorize/token/',
) => server!.post(path, body, headers);

async function statuses(calls: Promise<Reply>[]): Promise<number[]> {
  return (await Promise.all(calls)).map(({ status }) => status);
}

describe('--rate-limit 3', () => {
  it('refuses the fourth call within a minute, and says when to retry', async () => {
    await start({ 'rate-limit': '3' });
    for (const remaining of ['2', '1', '0']) {
      const reply = await ask();
      expectFailure(reply, 'token_invalid');
      expect(reply.headers.get('ratelimit-limit')).toBe('3');
      expect(reply.headers.get('ratelimit-remaining')).toBe(remaining);
      expect(reply.headers.has('retry-after')).toBe(false);
    }
    const refused = await ask();
    expectFailure(refused, 'rate_limited');
    expectCommonHeaders(refused.headers);
    for (const name of ['retry-after', 'ratelimit-reset']) {
      const seconds = Number(refused.headers.get(name));
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    expect(refused.headers.get('ratelimit-limit')).toBe('3');
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect(refused.headers.get('ratelimit-policy')).toBe('3;w=60');
  });

  it('counts both slash forms, and every call, good, bad or unreadable, together', async () => {
    const { admin } = await start({ 'rate-limit': '3' });
    const { license_key } = await newLicense(server!);
    const { token } = await admin.issueToken({ license: license_key });
    expect((await ask({}, { token })).body.valid).toBe(true);
    expectFailure(await ask({}, {}, '/authorize/token'), 'missing_token');
    expectFailure(await ask({ 'content-type': 'text/plain' }), 'unsupported_media_type');
    expectFailure(await ask({}, { token }), 'rate_limited');
    expectFailure(await ask({}, { token }, '/authorize/token'), 'rate_limited');
  });

  it('admits exactly three of many concurrent calls', async () => {
    await start({ 'rate-limit': '3' });
    const all = await statuses(Array.from({ length: 20 }, () => ask()));
    expect(all.filter((status) => status === 401)).toHaveLength(3);
    expect(all.filter((status) => status === 429)).toHaveLength(17);
  });

  it('leaves every other endpoint alone', async () => {
    await start({ 'rate-limit': '3' });
    const { license_key } = await newLicense(server!);
    await statuses(Array.from({ length: 5 }, () => ask()));
    const others = Array.from({ length: 10 }, () => [
      server!.post('/authorize/', { license_key }),
      server!.get('/health/'),
      server!.get('/public-key/'),
    ]).flat();
    expect(new Set(await statuses(others))).toEqual(new Set([200]));
    expect((await server!.get('/health/')).headers.has('ratelimit-limit')).toBe(false);
    expectFailure(await server!.get('/authorize/token/'), 'method_not_allowed');
  });

  it('allows the next call a minute later, and also when the clock was set back', async () => {
    const clock = createTestClock();
    await start({ 'rate-limit': '1' }, clock);
    expect((await ask()).status).toBe(401);
    clock.advance(59_999);
    expectFailure(await ask(), 'rate_limited');
    clock.advance(1);
    expect((await ask()).status).toBe(401);
    expectFailure(await ask(), 'rate_limited');
    clock.advance(-3_600_000);
    expect((await ask()).status).toBe(401);
  });

  it('uses the peer address as the caller and ignores X-Forwarded-For', async () => {
    const complaints = vi.spyOn(console, 'error').mockImplementation(() => {});
    const warnings = vi.spyOn(console, 'warn').mockImplementation(() => {});
    await start({ 'rate-limit': '3' });
    const headers = [1, 2, 3, 4, 5].map((at) => ({
      'x-forwarded-for': `10.0.0.${at}`,
      forwarded: `for=10.0.0.${at}`,
      'x-real-ip': `10.0.0.${at}`,
    }));
    const replies = await statuses(headers.map((each) => ask(each)));
    expect(replies.filter((status) => status === 429)).toHaveLength(2);
    // The server's stderr is for its log lines, which these would not be.
    expect([complaints.mock.calls, warnings.mock.calls]).toEqual([[], []]);
    vi.restoreAllMocks();
  });
});

const NO_ADDRESSES = [
  'unknown',
  'garbage',
  '_hidden',
  '192.0.2.256',
  '192.0.2.1:',
  '192.0.2.1:x',
  '[::1',
  '2001:db8::1::2',
  'fe80::1%eth0',
  '10.0.0.1, <script>',
];

describe('--trust-proxy', () => {
  const from = (addresses: string) => ask({ 'x-forwarded-for': addresses });

  it('on takes the caller from what the one proxy wrote, and from nothing before that', async () => {
    await start({ 'rate-limit': '3', 'trust-proxy': 'on' });
    expect(await statuses([from('10.0.0.1'), from('10.0.0.1'), from('10.0.0.1')])).toEqual([401, 401, 401]);
    expectFailure(await from('10.0.0.1'), 'rate_limited');
    expect((await from('10.0.0.2')).status).toBe(401);
    expectFailure(await from('10.9.9.9, 10.0.0.1'), 'rate_limited');
    expectFailure(await from('garbage, , 10.0.0.1'), 'rate_limited');
    expect((await ask()).status).toBe(401);
  });

  it('2 takes the caller from the second proxy', async () => {
    await start({ 'rate-limit': '1', 'trust-proxy': '2' });
    expect((await from('10.0.0.1, 10.0.0.9')).status).toBe(401);
    expectFailure(await from('10.0.0.1, 10.0.0.8'), 'rate_limited');
    expect((await from('10.0.0.2, 10.0.0.9')).status).toBe(401);
  });

  it('takes the proxies by their addresses', async () => {
    await start({ 'rate-limit': '1', 'trust-proxy': '127.0.0.0/8,10.0.0.0/8' });
    expect((await from('192.0.2.1, 10.0.0.9')).status).toBe(401);
    expectFailure(await from('192.0.2.1, 10.0.0.8, 10.1.1.1'), 'rate_limited');
    expect((await from('192.0.2.2')).status).toBe(401);
  });

  it('takes the network of the proxies as an IPv4-mapped one', async () => {
    await start({ 'rate-limit': '1', 'trust-proxy': '::ffff:127.0.0.0/104' });
    expect((await from('192.0.2.1')).status).toBe(401);
    expectFailure(await from('192.0.2.1'), 'rate_limited');
    expect((await from('192.0.2.2')).status).toBe(401);
  });

  it('off, for other proxies than the peer, takes the peer', async () => {
    await start({ 'rate-limit': '1', 'trust-proxy': '192.0.2.7' });
    expect((await from('10.0.0.1')).status).toBe(401);
    expectFailure(await from('10.0.0.2'), 'rate_limited');
  });

  it('counts IPv6 callers by their /56, so that one cannot come from a million addresses', async () => {
    await start({ 'rate-limit': '2', 'trust-proxy': 'on' });
    expect(await statuses([from('2001:db8:0:100::1'), from('2001:db8:0:1ff::2')])).toEqual([401, 401]);
    expectFailure(await from('2001:db8:0:123:ffff::3'), 'rate_limited');
    expect((await from('2001:db8:0:200::1')).status).toBe(401);
  });

  it('takes the address from an entry with a port', async () => {
    await start({ 'rate-limit': '1', 'trust-proxy': 'on' });
    for (const [address, same] of [
      ['192.0.2.1:567', '192.0.2.1'],
      ['[2001:db8::1]:80', '2001:db8::1'],
      ['[2001:db8:1::1]', '2001:db8:1::1'],
    ] as const) {
      expect((await from(address)).status).toBe(401);
      expectFailure(await from(same), 'rate_limited');
    }
  });

  it('refuses an invalid address, and logs the proxy', async () => {
    const dataDir = await keptDataDir();
    server = await startTestServer({ dataDir, flags: { 'rate-limit': '1', 'trust-proxy': 'on' } });
    const ids: string[] = [];
    for (const given of NO_ADDRESSES) {
      const replies = [await from(given), await server.get('/health/', { 'x-forwarded-for': given })];
      for (const reply of replies) {
        expectFailure(reply, 'invalid_request');
        expect(reply.body.message).toMatch(/^X-Forwarded-For /u);
        ids.push(reply.headers.get('x-request-id')!);
      }
    }
    await server.stop();
    server = undefined;
    const log = readFileSync(join(dataDir, 'logs', 'license-desk.1.log'), 'utf8')
      .trim()
      .split('\n');
    const lines = log.map((line) => JSON.parse(line) as { request_id?: string; address?: string });
    const addresses = lines
      .filter((line) => ids.includes(line.request_id ?? ''))
      .map(({ address }) => address);
    expect(addresses).toEqual(ids.map(() => '127.0.0.1'));
  });

  it('looks at no header of callers without a proxy', async () => {
    await start({ 'rate-limit': '0' });
    expect((await from('garbage')).status).toBe(401);
  });

  it('counts an IPv4 caller as one, whichever way it is written', async () => {
    await start({ 'rate-limit': '1', 'trust-proxy': 'on' });
    expect((await from('192.0.2.1')).status).toBe(401);
    expectFailure(await from('::ffff:192.0.2.1'), 'rate_limited');
    expect((await from('::ffff:192.0.2.2')).status).toBe(401);
  });
});

describe('--rate-limit 0', () => {
  it('is off', async () => {
    await start({ 'rate-limit': '0' });
    const all = await Promise.all(Array.from({ length: 200 }, () => ask()));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([401]));
    expect(all[0]?.headers.has('ratelimit-limit')).toBe(false);
  });
});

describe('by default', () => {
  it('it is 60 a minute', async () => {
    // The helper switches it off; the setting's own default is asked for here.
    await start({ 'rate-limit': '60' });
    const all = await statuses(Array.from({ length: 61 }, () => ask()));
    expect(all.filter((status) => status === 429)).toHaveLength(1);
  });
});

describe('--rate-limit-public 5', () => {
  const publicCall = (number: number) =>
    [
      () => server!.get('/public-key/'),
      () => server!.post('/authorize/', { license_key: 'unknown' }),
      () => server!.get('/openapi.json'),
      () => server!.get('/nothing-here/'),
      () => server!.post('/certs/validate/', {}),
    ][number % 5]!();

  it('counts all public endpoints, documents and unknown paths together', async () => {
    await start({ 'rate-limit-public': '5' });
    for (let number = 0; number < 5; number += 1) {
      const reply = await publicCall(number);
      expect(reply.status).not.toBe(429);
      expect(reply.headers.get('ratelimit-limit')).toBe('5');
      expect(reply.headers.get('ratelimit-remaining')).toBe(String(4 - number));
    }
    for (let number = 0; number < 5; number += 1) {
      const refused = await publicCall(number);
      expectFailure(refused, 'rate_limited');
      expectCommonHeaders(refused.headers);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused.headers.get('ratelimit-policy')).toBe('5;w=60');
      expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    }
  });

  it('leaves /authorize/token/ to its own limit', async () => {
    await start({ 'rate-limit-public': '5', 'rate-limit': '10' });
    const tokens = await statuses(Array.from({ length: 12 }, () => ask()));
    expect(tokens.filter((status) => status === 401)).toHaveLength(10);
    expect((await publicCall(0)).headers.get('ratelimit-remaining')).toBe('4');
  });

  it('counts the failed calls of floating licenses separately, and no others of them', async () => {
    await start({ 'rate-limit-public': '5' });
    const license = await newFloatingLicense(server!, { seats: 20 });
    const failing = () => server!.post('/leases/checkout/', { license_key: 'unknown', instance_id: 'x' });
    for (let number = 0; number < 6; number += 1) await publicCall(number);
    expectFailure(await publicCall(0), 'rate_limited');
    for (let number = 0; number < 6; number += 1) {
      const { lease_token } = await newLease(server!, license);
      expect((await server!.post('/leases/release/', { lease_token })).status).toBe(200);
    }
    for (let number = 0; number < 5; number += 1) {
      const reply = await failing();
      expect(reply.status).not.toBe(429);
      expect(reply.headers.get('ratelimit-remaining')).toBe(String(5 - number));
    }
    const refused = await failing();
    expectFailure(refused, 'rate_limited');
    expect(refused.body.message).toContain('the limit for failed calls is 5 per minute');
  });

  it('counts a batch of heartbeats as failed if it has only unknown tokens', async () => {
    await start({ 'rate-limit-public': '3' });
    const { lease_token } = await newLease(server!);
    const unknown = Array.from({ length: 99 }, () => 'lds_unknown');
    const beat = (leases: string[]) => server!.post('/leases/heartbeat/', { leases });
    for (let number = 0; number < 6; number += 1)
      expect((await beat([...unknown, lease_token])).status).toBe(200);
    // Express answers what has an unusual media type, the direct lane the rest.
    const headers = { 'content-type': 'application/json; charset="utf-8"' };
    expect((await beat(unknown)).body.leases).toHaveLength(99);
    expect((await server!.post('/leases/heartbeat/', { leases: unknown }, headers)).status).toBe(200);
    expect((await beat(unknown)).status).toBe(200);
    expectFailure(await beat(unknown), 'rate_limited');
  });

  it('counts a batch of heartbeats as failed if it extends no lease', async () => {
    await start({ 'rate-limit-public': '3' });
    const { lease_token } = await newLease(server!);
    await server!.post('/leases/release/', { lease_token });
    const beat = () => server!.post('/leases/heartbeat/', { leases: [lease_token, 'lds_unknown'] });
    for (let number = 0; number < 3; number += 1) expect((await beat()).status).toBe(200);
    expectFailure(await beat(), 'rate_limited');
  });

  it('never limits health checks, which share the address of a load balancer', async () => {
    await start({ 'rate-limit-public': '5' });
    const checks = Object.values(publicContract).filter(({ path }) => path.startsWith('/health/'));
    expect(checks.length).toBeGreaterThan(0);
    for (const { path } of checks) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => server!.get(path)));
      expect(replies.map(({ status }) => status)).not.toContain(429);
      expect(replies[0]!.headers.has('ratelimit-limit')).toBe(false);
    }
  });

  it('counts refused API tokens, and never a call with a valid one', async () => {
    await start({ 'rate-limit-public': '5' });
    const bearer = await newBearer(server!);
    const wrong = { authorization: 'Bearer ldk_unknown' };
    const refused = await Promise.all(Array.from({ length: 8 }, () => server!.get('/plans/', wrong)));
    expect(refused.filter(({ status }) => status === 401)).toHaveLength(5);
    for (const reply of refused.filter(({ status }) => status !== 401)) expectFailure(reply, 'rate_limited');
    const valid = await Promise.all(Array.from({ length: 8 }, () => server!.get('/plans/', bearer)));
    expect(new Set(valid.map(({ status }) => status))).toEqual(new Set([200]));
    expectFailure(await publicCall(0), 'rate_limited');
  });
});

describe('the limits among each other', () => {
  const limitOf = async (path: string) => (await server!.get(path)).headers.get('ratelimit-limit');

  it('--rate-limit 0 turns the public limit off', async () => {
    await start({ 'rate-limit': '0' });
    expect(await limitOf('/public-key/')).toBeNull();
  });

  it('--rate-limit 0 leaves a public limit on that is set itself', async () => {
    await start({ 'rate-limit': '0', 'rate-limit-public': '600' });
    expect(await limitOf('/public-key/')).toBe('600');
    expect((await ask()).headers.has('ratelimit-limit')).toBe(false);
  });

  it('--rate-limit-public 0 turns off that limit alone', async () => {
    await start({ 'rate-limit': '60', 'rate-limit-public': '0' });
    expect(await limitOf('/public-key/')).toBeNull();
    expect((await ask()).headers.get('ratelimit-limit')).toBe('60');
  });

  it('the public limit is 600 by default', async () => {
    await start({ 'rate-limit': '60' });
    expect(await limitOf('/public-key/')).toBe('600');
  });
});
