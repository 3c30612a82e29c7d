// A server that listens on every interface gives its clients an address that they can reach, and says so.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { chooseAddress } from '#server/platform/lan-address.ts';
import { cliOn } from '../helpers/cli.ts';
import { eventually } from '../helpers/eventually.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

test.each<[name: string, candidates: string[], routed: string[], chosen: string | null]>([
  ['the address of the default route', ['172.17.0.1', '10.1.2.3'], ['10.1.2.3'], '10.1.2.3'],
  [
    'the IPv4 route before the IPv6 route',
    ['2001:db8::7', '10.1.2.3'],
    ['10.1.2.3', '2001:db8::7'],
    '10.1.2.3',
  ],
  ['the IPv6 route if there is no IPv4', ['2001:db8::7', 'fd00::2'], ['fd00::2'], 'fd00::2'],
  ['an address that is not routed', ['fd00::2', '10.1.2.3', '10.9.9.9'], [], '10.1.2.3'],
  ['IPv6 if there is nothing else', ['fd00::2'], [], 'fd00::2'],
  ['no self-assigned address', ['169.254.7.7', '10.1.2.3'], ['169.254.7.7'], '10.1.2.3'],
  ['no address that the machine does not have', ['10.1.2.3'], ['127.0.0.1'], '10.1.2.3'],
  ['nothing', [], [], null],
])('chooses %s', (_name, candidates, routed, chosen) => {
  expect(chooseAddress(candidates, routed)).toBe(chosen);
});

const others = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4')
  .map(({ address }) => address);

describe.skipIf(others.length === 0)(
  '--host 0.0.0.0 without --base-url (skipped without a network interface)',
  () => {
    let server: TestServer;
    let origin: string;
    const url = /^http:\/\/([\d.]+):(\d+)\/license\/api\/svc/u;
    beforeAll(async () => {
      server = await startTestServer({ flags: { host: '0.0.0.0' } });
      const document = (await (await fetch(`${server.api}/openapi.json`)).json()) as {
        servers: { url: string }[];
      };
      origin = document.servers[0]!.url;
    });
    afterAll(() => server.stop());

    it('puts an address of the network into OpenAPI', async () => {
      const [, address, port] = url.exec(origin) ?? [];
      expect(others).toContain(address);
      expect(port).toBe(new URL(server.api).port);
      expect((await fetch(`${origin}/health/`)).status).toBe(200);
    });

    it('puts the same address into certificates and download links', async () => {
      const cli = cliOn(server.dataDir);
      const { license } = await server.admin.createLicense({ holder: 'Acme' });
      const file = join(server.dataDir, 'seat.pem');
      await cli.ok('cert', 'issue', '--license', license.license_key, '--common-name', 'seat', '--out', file);
      const issued = await server.admin.generateCertificate({
        license_key: license.license_key,
        common_name: 'seat-2',
      });
      expect(issued.download_url).toContain(`${origin}/certs/download-key/`);
      const leaf = new X509Certificate(readFileSync(file, 'utf8'));
      expect(leaf.raw.toString('latin1')).toContain(`${origin}/certs/crl/`);
    });

    it('warns in the log, in the alerts of the back office and in doctor', async () => {
      const codes = ['api_unencrypted', 'base_url_derived'];
      await eventually(() => {
        const log = readFileSync(join(server.dataDir, 'logs', 'license-desk.1.log'), 'utf8');
        for (const code of codes) expect(log).toMatch(new RegExp(`"level":40,.*"code":"${code}"`, 'u'));
      });
      const { alerts } = await server.admin.listAlerts({});
      expect(alerts.toSorted((one, other) => one.code.localeCompare(other.code))).toMatchObject(
        codes.map((code) => ({ code, severity: 'warning', params: { host: '0.0.0.0' } })),
      );
      const doctor = await cliOn(server.dataDir, { env: { LICENSE_DESK_HOST: '0.0.0.0' } }).prints('doctor');
      expect(doctor).toMatch(/^settings +ok +warning: the API listens on 0\.0\.0\.0 without TLS/mu);
      expect(doctor).toMatch(
        /^settings +ok +warning: the API listens on 0\.0\.0\.0 and base_url is not set/mu,
      );
      for (const code of codes) expect(doctor).toContain(`warning ${code} since`);
    });
  },
);

it('a server on loopback has no such alert', async () => {
  const server = await startTestServer();
  expect((await server.admin.listAlerts({})).alerts).toEqual([]);
  await server.stop();
});
