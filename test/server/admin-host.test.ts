// Where the admin listener listens for a proxy, and the addresses of those who come through it.
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addressesOf } from '#server/platform/lan-address.ts';
import { cliOn } from '../helpers/cli.ts';
import { eventually } from '../helpers/eventually.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { jsonCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';

const HOST = 'desk.example.com';
const ORIGIN = `https://${HOST}`;

const server = sharedServer({ flags: { 'admin-url': ORIGIN, 'trust-proxy': 'on' } });
const url = (path: string) => `${server.adminOrigin}/admin/api${path}`;
const bearer = () => ({ authorization: `Bearer ${server.runtimeSecret}` });

describe('the address of a caller', () => {
  const addressOf = (id: string) =>
    eventually(() => {
      const log = readFileSync(join(server.dataDir, 'logs', 'license-desk.1.log'), 'utf8');
      const line = log.split('\n').find((one) => one.includes(`"request_id":"${id}"`));
      return (JSON.parse(line ?? '') as { address: string }).address;
    });
  const ask = (id: string, headers: Record<string, string>) =>
    jsonCall(url('/server-info/'), { headers: { ...headers, 'x-request-id': id } });

  it('comes from the proxy, and from nothing that a program on this machine sends', async () => {
    const forwarded = { 'x-forwarded-for': '192.0.2.66, 192.0.2.7' };
    await ask('proxied', { host: HOST, ...forwarded });
    expect(await addressOf('proxied')).toBe('192.0.2.7');
    await ask('local', { ...bearer(), ...forwarded });
    expect(await addressOf('local')).toContain('127.0.0.1');
    await ask('other-host', { host: 'evil.example', ...forwarded });
    expect(await addressOf('other-host')).toContain('127.0.0.1');
  });

  it('must be an address', async () => {
    const headers = { host: HOST, 'x-forwarded-for': '<script>' };
    expectFailure(await ask('no-address', headers), 'invalid_request');
    expect(await addressOf('no-address')).toContain('127.0.0.1');
    expect((await ask('ignored', { ...bearer(), 'x-forwarded-for': '<script>' })).status).toBe(200);
  });

  it('is that of the proxy unless it is trusted', async () => {
    const careful = await startTestServer({ flags: { 'admin-url': ORIGIN } });
    onTestFinished(() => careful.stop());
    const headers = { host: HOST, 'x-forwarded-for': '192.0.2.7', authorization: 'Bearer wrong' };
    await jsonCall(`${careful.adminOrigin}/admin/api/server-info/`, { headers });
    const security = readFileSync(join(careful.dataDir, 'logs', 'security.1.log'), 'utf8');
    expect(security).toMatch(/"credential.refused".*"address":"[^"]*127\.0\.0\.1"/u);
  });
});

describe('a listener beyond loopback', () => {
  const [address] = addressesOf(networkInterfaces(), 'ipv4');

  it.each<[string, Record<string, string>]>([
    ['0.0.0.0', {}],
    ['::', {}],
    ['192.0.2.1', {}],
    ['0.0.0.0', { 'admin-url': 'http://localhost:9000' }],
  ])('is refused without an https URL: %s %j', async (host, flags) => {
    const starting = startTestServer({ flags: { 'admin-host': host, ...flags } });
    await expect(starting).rejects.toThrow(
      new RegExp(
        `^--admin-host is "${host}", which opens the back office to the network, but --admin-url is [^\\n]+$`,
        'u',
      ),
    );
  });

  it('says which setting has an address that this machine does not have', async () => {
    const starting = startTestServer({ flags: { 'admin-host': '192.0.2.253', 'admin-url': ORIGIN } });
    await expect(starting).rejects.toThrow(
      /^--admin-host is "192\.0\.2\.253", but the server cannot listen on/u,
    );
  });

  it.each(['::ffff:127.0.0.1', '::FFFF:7f00:1', '0:0:0:0:0:ffff:127.0.0.1'])(
    'may be loopback as an IPv4-mapped address: %s',
    async (host) => {
      const desk = await startTestServer({ flags: { 'admin-host': host } });
      onTestFinished(() => desk.stop());
      expect(new URL(desk.adminOrigin).hostname).toBe('127.0.0.1');
      expect((await jsonCall(`${desk.adminOrigin}/admin/api/session/help/`)).status).toBe(200);
    },
  );

  it('is tried and checked before it is saved', async () => {
    const dataDir = await keptDataDir();
    const desk = await startTestServer({ dataDir });
    onTestFinished(() => desk.stop());
    const change = (changes: Record<string, string | null>) => desk.admin.updateSettings({ changes });
    await expect(change({ admin_host: '0.0.0.0' })).rejects.toThrow('--admin-url is not set');
    await expect(change({ admin_url: 'http://desk.example.com' })).rejects.toThrow(
      'must be an https address',
    );
    const { warnings } = await change({ admin_host: '0.0.0.0', admin_url: ORIGIN });
    expect(warnings.map(({ code }) => code)).toEqual(['admin_unencrypted']);
    await expect(change({ admin_url: null })).rejects.toThrow('--admin-url is not set');
  });

  it.skipIf(!address).each([address ?? '', '0.0.0.0'])(
    'admits the proxy only, and nothing for loopback: %s',
    async (host) => {
      const desk = await startTestServer({ flags: { 'admin-host': host, 'admin-url': ORIGIN } });
      onTestFinished(() => desk.stop());
      const { port } = new URL(desk.adminOrigin);
      const outside = `http://${address}:${port}/admin/api/session/help/`;
      expect((await jsonCall(outside, { headers: { host: HOST } })).status).toBe(200);
      // Elsewhere, anyone can claim to call from this machine.
      for (const claimed of [`127.0.0.1:${port}`, 'localhost', '[::1]', `${address}:${port}`])
        expectFailure(await jsonCall(outside, { headers: { host: claimed } }), 'forbidden');
      const { alerts } = await desk.admin.listAlerts({});
      expect(alerts).toMatchObject([{ code: 'admin_unencrypted', params: { admin_host: host } }]);
      expect(await cliOn(desk.dataDir).prints('open')).toMatch(/^http:\/\/127\.0\.0\.1:/u);
    },
  );
});
