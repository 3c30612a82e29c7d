// Frequent answers come from memory on SQLite. Every change must show in the very next call, whatever made it.
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import { PASSPHRASE, restore, saveBackup } from '../helpers/backup-file.ts';
import { eventually } from '../helpers/eventually.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { jsonCall } from '../helpers/raw-http.ts';
import { startTestServer } from '../helpers/test-server.ts';

import { newBearer, newFingerprint, newLicense, success, unique } from '../helpers/contract-calls.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2031, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
});

async function newToken(license: { license_key: string }, days = 365) {
  const { token, authorization_token } = await server.admin.issueToken({
    license: license.license_key,
    days,
  });
  return { token, id: authorization_token.id };
}

const askToken = (token: string) => server.post('/authorize/token/', { token });
const ask = (license: { license_key: string }, fields: object = {}) =>
  success(server, 'authorize', { license_key: license.license_key, ...fields });

/** Calls often enough that the answer is in memory. */
async function warm(token: string): Promise<void> {
  for (let call = 0; call < 3; call += 1) expect((await askToken(token)).body).toMatchObject({ valid: true });
}

describe('a token whose answer is in memory', () => {
  it('fails from the call after its revocation', async () => {
    const { token, id } = await newToken(await newLicense(server));
    await warm(token);
    await server.admin.revokeToken({ id });
    expectFailure(await askToken(token), 'token_invalid');
  });

  it('fails from the call after its replacement', async () => {
    const license = await newLicense(server);
    const { token } = await newToken(license);
    await warm(token);
    await newToken(license);
    expectFailure(await askToken(token), 'token_invalid');
  });

  it('is not valid from the call after its license was revoked', async () => {
    const license = await newLicense(server);
    const { token } = await newToken(license);
    await warm(token);
    await server.post('/licenses/revoke/', { license_id: license.license_id }, bearer);
    expect((await askToken(token)).body).toMatchObject({ valid: false, reason: 'license_revoked' });
  });

  it('ends with the clock, its own term and that of its license, and begins again with a renewal', async () => {
    const license = await newLicense(server);
    const [short, long] = [await newToken(license, 1), await newLicense(server)];
    const { token } = await newToken(long, 3650);
    await warm(short.token);
    await warm(token);
    clock.set(START + DAY_MS - 1);
    expect((await askToken(short.token)).status).toBe(200);
    clock.set(START + DAY_MS);
    expectFailure(await askToken(short.token), 'token_invalid');
    const graceEnd = Date.parse(long.grace_ends_at);
    clock.set(graceEnd - 1);
    expect((await askToken(token)).body).toMatchObject({ valid: true });
    clock.set(graceEnd);
    expect((await askToken(token)).body).toMatchObject({ valid: false, reason: 'license_expired' });
    await server.post('/renew/', { license_id: long.license_id, days: 30 }, bearer);
    expect((await askToken(token)).body).toMatchObject({ valid: true });
    clock.set(START);
    expect((await askToken(token)).body).toMatchObject({ valid: true });
  });

  it('follows the grace period of a plan that is edited', async () => {
    const plan = unique('grace');
    await server.admin.createPlan({ name: plan, duration_days: 10, grace_days: 0 });
    const license = await newLicense(server, { plan });
    const { token } = await newToken(license);
    await warm(token);
    clock.set(START + 11 * DAY_MS);
    expect((await askToken(token)).body).toMatchObject({ reason: 'license_expired' });
    await server.call('PUT', '/plans/', { name: plan, grace_days: 5 }, bearer);
    expect((await askToken(token)).body).toMatchObject({ valid: true });
    await server.call('PUT', '/plans/', { name: plan, grace_days: 0 }, bearer);
    expect((await askToken(token)).body).toMatchObject({ reason: 'license_expired' });
  });

  it('is recorded as used once an hour, also when its answer comes from memory', async () => {
    const license = await newLicense(server);
    const { token } = await newToken(license);
    await warm(token);
    const lastUse = async () => {
      // Reading the statistics writes what is waiting, but does not wait for long.
      await server.get('/stats/', bearer);
      const { items } = await server.admin.listTokens({ license: license.license_key });
      return items[0]?.last_used_at;
    };
    await eventually(async () => expect(await lastUse()).toBe(new Date(START).toISOString()));
    clock.set(START + 3_599_999);
    await warm(token);
    expect(await lastUse()).toBe(new Date(START).toISOString());
    clock.set(START + 3_600_000);
    await warm(token);
    await eventually(async () => expect(await lastUse()).toBe(new Date(START + 3_600_000).toISOString()));
    // The clock was ahead, and is right again.
    clock.set(START);
    await warm(token);
    clock.set(START + 2000);
    await eventually(async () => expect(await lastUse()).toBe(new Date(START).toISOString()));
  });
});

describe('a license whose answer is in memory', () => {
  it('gains and loses a device', async () => {
    const license = await newLicense(server);
    const machine_fingerprint = newFingerprint();
    const isActive = async () => (await ask(license, { machine_fingerprint })).authorized as boolean;
    for (const expected of [false, true, false, true]) {
      if (expected)
        await success(server, 'activate', { license_key: license.license_key, machine_fingerprint });
      else if (await isActive())
        await server.post(
          '/licenses/release/',
          { license_id: license.license_id, machine_fingerprint },
          bearer,
        );
      for (let call = 0; call < 3; call += 1) expect(await isActive()).toBe(expected);
    }
  });

  it('takes over the new name and features of its plan', async () => {
    const [plan, renamed] = [unique('before'), unique('after')];
    await server.admin.createPlan({ name: plan, features: ['a'] });
    const license = await newLicense(server, { plan });
    expect(await ask(license)).toMatchObject({ plan, features: ['a'] });
    expect(await ask(license)).toMatchObject({ plan, features: ['a'] });
    const { plan: found } = await server.admin.updatePlan({ name: plan, features: ['b'] });
    expect(await ask(license)).toMatchObject({ plan, features: ['b'] });
    await server.admin.updatePlan({ id: found.id, name: renamed });
    expect(await ask(license)).toMatchObject({ plan: renamed, features: ['b'] });
  });
});

describe('an answer', () => {
  it('is found once its license has been imported', async () => {
    const license_key = generateLicenseKey();
    const askIt = () => server.post('/authorize/', { license_key });
    for (let call = 0; call < 3; call += 1) expectFailure(await askIt(), 'license_not_found');
    const uploaded = await jsonCall(`${server.adminOrigin}/admin/api/licenses/import/`, {
      method: 'POST',
      body: `who,key\nSomebody,${license_key}\n`,
      headers: { authorization: `Bearer ${server.runtimeSecret}`, 'content-type': 'text/csv' },
    });
    const { import_id } = uploaded.body as { import_id: string };
    await server.admin.runImport({ import_id, mapping: { holder: 'who', license_key: 'key' } });
    expect((await askIt()).body).toMatchObject({ authorized: true });
  });

  it('comes from the restored database after a restore', async () => {
    const dataDir = await keptDataDir();
    const first = await startTestServer({ dataDir });
    const license = await newLicense(first);
    const { token, authorization_token } = await first.admin.issueToken({ license: license.license_key });
    const file = join(await keptDataDir(), 'backup.tar');
    await saveBackup(first, file, PASSPHRASE);
    await first.admin.revokeToken({ id: authorization_token.id });
    expectFailure(await first.post('/authorize/token/', { token }), 'token_invalid');
    await first.stop();
    await restore(file, dataDir, { passphrase: PASSPHRASE });
    const second = await startTestServer({ dataDir });
    onTestFinished(() => second.stop());
    expect((await second.post('/authorize/token/', { token })).body).toMatchObject({ valid: true });
    await second.admin.revokeLicense({ ref: license.license_key });
    expect((await second.post('/authorize/token/', { token })).body).toMatchObject({ valid: false });
  });
});
