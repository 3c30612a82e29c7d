// `lease run` against the real server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { newFloatingLicense, newLeaseRule } from '../helpers/contract-calls.ts';
import { spawnCli } from '../helpers/cli.ts';
import { sharedServer } from '../helpers/shared-server.ts';

const server = sharedServer({ flags: { tls: 'auto' } });
const folder = mkdtempSync(join(tmpdir(), 'license-desk-run-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(license: { license_key: string }, ...words: string[]) {
  const { authority } = await server.admin.showAuthority({});
  const ca = join(folder, 'ca.pem');
  writeFileSync(ca, authority.ca_certificate);
  const env = {
    LICENSE_DESK_SERVER: new URL(server.api).origin,
    LICENSE_DESK_LICENSE_KEY: license.license_key,
  };
  return spawnCli(['lease', 'run', '--ca', ca, ...words], { env });
}

const leasesOf = async ({ license_key }: { license_key: string }) =>
  (await server.admin.listLeases({ license: license_key })).items;

it('two runs share one seat, one after the other, and both finish', async () => {
  const license = await newFloatingLicense(server, { seats: 1 });
  // Each command fails if the other one runs at the same time.
  const script = `const { mkdirSync, rmdirSync } = require('node:fs');
    mkdirSync(process.argv[1]); setTimeout(() => { rmdirSync(process.argv[1]); console.log('done'); }, 200);`;
  const command = ['--wait', '10m', '--', process.execPath, '-e', script, join(folder, 'alone')];
  const results = await Promise.all([run(license, ...command), run(license, ...command)]);
  expect(results.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual([
    [0, 'done\n'],
    [0, 'done\n'],
  ]);
  expect((await leasesOf(license)).map(({ state }) => state)).toEqual(['released', 'released']);
});

it('says why there is no seat', async () => {
  const rule = await newLeaseRule(server, { type: 'deny', match: { user: 'ci' } });
  const result = await run(rule, '--user', 'ci', '--', process.execPath, '-e', '');
  expect(result).toMatchObject({ exitCode: 125, stdout: '' });
  expect(result.stderr).toContain('a lease rule denies the checkout: deny, user ci');
  await run(rule, '--user', 'ada', '--host', 'runner-1', '--', process.execPath, '-e', '');
  expect(await leasesOf(rule)).toMatchObject([{ user: 'ada', host: 'runner-1', state: 'released' }]);
});

it('trusts only the given certificate authority', async () => {
  const license = await newFloatingLicense(server);
  const env = { LICENSE_DESK_LICENSE_KEY: license.license_key };
  const words = ['lease', 'run', '--server', new URL(server.api).origin, '--wait', '10m', '--', 'true'];
  const result = await spawnCli(words, { env });
  expect(result.exitCode).toBe(125);
  expect(result.stderr).toContain('name the CA certificate with --ca');
});
