// A signing key that leaked: nothing under it is accepted any more, and nobody can trade a forged file for a good one.
import { describe, expect, it } from 'vitest';
import { issueLicenseFile } from '#server/features/signing/license-file-issuer.ts';
import { readDistrustList } from '../../verifier/distrust-list.ts';
import { verifyEd25519 } from '../../verifier/ed25519.ts';
import { parsePublicKeys } from '../../verifier/public-key-format.ts';
import { verifyLicenseFile } from '../../verifier/verify-license-file.ts';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newFingerprint,
  newLicense,
  success,
} from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { leakedKey } from '../helpers/leaked-key.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { envelopeOf } from '../verifier/sample-license-file.ts';

const server = sharedServer();

const publicKey = (from = server) => success(from, 'publicKey', {});
const distrust = (key_id: string, reason?: string) =>
  adminSuccess(server, 'distrustSigningKey', { key_id, ...(reason === undefined ? {} : { reason }) });
const validate = (license_file: string, fields: object = {}) =>
  success(server, 'validateOffline', { license_file, ...fields });
const filesUnder = (key_id: string, page: object = {}) =>
  adminSuccess(server, 'listFilesToReissue', { key_id, ...page });

async function activated() {
  const license = await newLicense(server, { plan: 'professional' });
  const { license_file, activation } = await activateDevice(server, license);
  return { license, license_file, machine_fingerprint: activation.machine_fingerprint };
}

/** What somebody can sign who has the private key. */
async function forgedFile(key_id: string, of: Awaited<ReturnType<typeof activated>>): Promise<string> {
  const license = {
    ...of.license,
    expires_at: '2099-01-01T00:00:00.000Z',
    grace_ends_at: '2099-01-01T00:00:00.000Z',
  };
  return issueLicenseFile({
    license: { ...license, machine_fingerprint: of.machine_fingerprint },
    machine: null,
    issuedAt: Date.now() - 1000 * 86_400_000,
    ttlMs: null,
    issuer: 'License Desk',
    ...(await leakedKey(server.dataDir, key_id)),
  });
}

describe('a distrusted signing key', () => {
  it('is refused from the next call on, and its files are not traded for new ones', async () => {
    const holder = await activated();
    const { key_id: leaked } = await publicKey();
    const { license_file, machine_fingerprint, license } = holder;
    await server.admin.rotateSigningKey({});
    const forged = await forgedFile(leaked, holder);
    expect(await validate(forged)).toMatchObject({ valid: true });
    await distrust(leaked, 'laptop stolen');

    for (const [file, fields] of [
      [license_file, { machine_fingerprint, license_key: license.license_key }],
      [forged, {}],
    ] as const) {
      expect(await validate(file, fields)).toEqual({
        ok: true,
        valid: false,
        reason: 'key_distrusted',
        license: null,
        signed_at: null,
        file_expires_at: null,
      });
    }
    const explained = await adminSuccess(server, 'explainLicenseFile', { license_file });
    expect(explained).toMatchObject({ valid: false, reason: 'key_distrusted', license: null });
    const outcomes = (explained.rules as { rule: string; outcome: string }[]).filter(
      ({ outcome }) => outcome !== 'not_asked',
    );
    expect(outcomes.map(({ rule, outcome }) => [rule, outcome])).toEqual([
      ['format', 'passed'],
      ['known_key', 'passed'],
      ['trusted_key', 'failed'],
    ]);
  });

  it('is listed as such, in the reply and on a list that verifiers check offline', async () => {
    const { license_file, machine_fingerprint: fingerprint } = await activated();
    const before = await publicKey();
    const { distrusted, ...published } = await distrust(before.key_id);
    expect(distrusted).toMatchObject({ key_id: before.key_id, status: 'distrusted', distrust_reason: null });

    const after = await publicKey();
    expect(published).toMatchObject({ ...after, files_to_reissue: expect.any(Number) as number });
    expect(after.keys).toContainEqual({ ...before.keys[0], status: 'distrusted' });
    // Pinned in a program, so without the states.
    const keys = parsePublicKeys(JSON.stringify(after)).map(({ distrusted: _, ...key }) => key);
    const options = { keys, now: Date.now(), fingerprint };
    expect(await verifyLicenseFile(license_file, options)).toMatchObject({ valid: true });
    const distrustList = after.distrust_list as string;
    expect(await verifyLicenseFile(license_file, { ...options, distrustList })).toMatchObject({
      reason: 'key_distrusted',
    });
    expect(
      await verifyLicenseFile(license_file, { ...options, keys: parsePublicKeys(JSON.stringify(after)) }),
    ).toMatchObject({
      reason: 'key_distrusted',
    });
  });

  it('is replaced first if it is the active one, and never signs the list', async () => {
    const before = await publicKey();
    const after = await distrust(before.key_id);
    expect(after.key_id).not.toBe(before.key_id);
    expect(envelopeOf(after.distrust_list as string).kid).toBe(after.key_id);
    const { license_file } = await activated();
    expect(envelopeOf(license_file).kid).toBe(after.key_id);
    expect(await validate(license_file)).toMatchObject({ valid: true });
  });

  it('stays distrusted: a second time changes nothing, and a rotation signs the list anew', async () => {
    const { key_id: leaked } = await publicKey();
    const first = await distrust(leaked, 'first');
    const { distrust_list: again, distrusted } = await distrust(leaked, 'second');
    expect(again).toBe(first.distrust_list);
    expect(distrusted).toMatchObject({ distrust_reason: 'first' });
    const rotated = await server.admin.rotateSigningKey({});
    const read = (text: string | null) =>
      readDistrustList(text ?? '', {
        keys: parsePublicKeys(JSON.stringify(rotated)),
        verifySignature: verifyEd25519,
      });
    const [older, newer] = [read(first.distrust_list as string), read(rotated.distrust_list)];
    expect(envelopeOf(rotated.distrust_list ?? '').kid).toBe(rotated.key_id);
    expect(newer.sequence).toBeGreaterThan(older.sequence);
    expect([...newer.distrusted.keys()]).toEqual([...older.distrusted.keys()]);
    expect(newer.distrusted.has(leaked)).toBe(true);
  });

  it('is written down with the reason, which is not published', async () => {
    const { key_id } = await publicKey();
    const reply = await distrust(key_id, 'posted on a forum');
    const [entry, rotation] = (await server.admin.listAudit({ limit: 2 })).items;
    expect(entry).toMatchObject({
      action: 'signing_key.distrusted',
      subject: `signing_key:${key_id}`,
      before: { status: 'active' },
      after: { status: 'distrusted', distrust_reason: 'posted on a forum' },
    });
    expect(rotation).toMatchObject({ action: 'signing_key.rotated' });
    const published = JSON.stringify(await publicKey());
    expect(
      published + Buffer.from(envelopeOf(reply.distrust_list as string).enc, 'base64').toString(),
    ).not.toContain('forum');
  });

  it('must be one of ours, and an administrator must ask', async () => {
    expectFailure(await callAdmin(server, 'distrustSigningKey', { key_id: '0'.repeat(16) }), 'not_found');
    expectFailure(await callAdmin(server, 'distrustSigningKey', { key_id: 'all' }), 'invalid_request');
    const { key_id } = await publicKey();
    expectFailure(await callAdmin(server, 'distrustSigningKey', { key_id }, {}), 'unauthorized');
  });

  it('leaves every list complete, however many keys are distrusted at once', async () => {
    await server.admin.rotateSigningKey({});
    await server.admin.rotateSigningKey({});
    const { keys } = await publicKey();
    const ids = keys.map((key: { key_id: string }) => key.key_id);
    await Promise.all(ids.map((id: string) => distrust(id)));
    const after = await publicKey();
    const list = readDistrustList(after.distrust_list as string, {
      keys: parsePublicKeys(JSON.stringify(after)),
      verifySignature: verifyEd25519,
    });
    expect([...list.distrusted.keys()].toSorted()).toEqual(ids.toSorted());
    expect(after.keys.filter(({ status }: { status: string }) => status === 'active')).toHaveLength(1);
  });
});

describe('the files to reissue', () => {
  interface File {
    license_id: number;
    machine_fingerprint: string | null;
    recorded: boolean;
  }

  it('are those of active devices and those bound to none, until each has a new one', async () => {
    await server.admin.rotateSigningKey({});
    const { key_id } = await publicKey();
    const bound = await activated();
    const unbound = await newLicense(server);
    await server.admin.issueLicenseFile({ license: unbound.license_key });
    const gone = await activated();
    await server.admin.releaseDevice({
      ref: gone.license.license_key,
      machine_fingerprint: gone.machine_fingerprint,
    });
    const revoked = await activated();
    await server.admin.revokeLicense({ ref: revoked.license.license_key });
    await distrust(key_id);

    const listed = async () => {
      const { items, total } = await filesUnder(key_id);
      expect(items).toHaveLength(total as number);
      return (items as File[]).map(({ license_id, machine_fingerprint, recorded }) => ({
        license_id,
        machine_fingerprint,
        recorded,
      }));
    };
    const device = {
      license_id: bound.license.license_id,
      machine_fingerprint: bound.machine_fingerprint,
      recorded: true,
    };
    const any = { license_id: unbound.license_id, machine_fingerprint: null, recorded: true };
    expect(await listed()).toEqual([device, any]);

    // Asked for again, by the device that has the license key.
    const { body } = await server.post('/activate/', {
      license_key: bound.license.license_key,
      machine_fingerprint: bound.machine_fingerprint,
    });
    expect(await validate(body.license_file as string)).toMatchObject({ valid: true });
    expect(await listed()).toEqual([any]);
    await server.admin.issueLicenseFile({ license: unbound.license_key });
    expect(await listed()).toEqual([]);
  });

  it('come in pages, by license', async () => {
    await server.admin.rotateSigningKey({});
    const { key_id } = await publicKey();
    const license = await newLicense(server, { plan: 'professional' });
    for (let device = 0; device < 3; device += 1)
      await activateDevice(server, license, { machine_fingerprint: newFingerprint() });
    await server.admin.issueLicenseFile({ license: license.license_key });
    const seen: (string | null)[] = [];
    let cursor: string | undefined;
    do {
      const page = await filesUnder(key_id, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.total).toBe(4);
      seen.push(...(page.items as File[]).map(({ machine_fingerprint }) => machine_fingerprint));
      cursor = (page.next_cursor as string | null) ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(4);
    expect(new Set(seen).size).toBe(4);
    expectFailure(
      await callAdmin(server, 'listFilesToReissue', { key_id, cursor: 'nonsense' }),
      'invalid_request',
    );
  });

  it('include devices that were activated before keys were recorded, as long as the key was in use', async () => {
    const dataDir = await keptDataDir();
    const old: TestServer = await startTestServer({ dataDir });
    const license = await newLicense(old, { plan: 'professional' });
    await activateDevice(old, license);
    const { key_id: first } = await publicKey(old);
    await old.stop();
    await writeRows(dataDir, 'UPDATE activations SET signing_key_id = NULL');

    const next = await startTestServer({ dataDir });
    const { key_id: second } = await next.admin.rotateSigningKey({});
    await activateDevice(next, license);
    const of = async (key_id: string) =>
      (await next.admin.listFilesToReissue({ key_id })).items.map(({ recorded }) => recorded);
    expect(await of(first)).toEqual([false]);
    // The first device may have fetched a new file from the second key.
    expect(await of(second)).toEqual([false, true]);
    await next.admin.distrustSigningKey({ key_id: first });
    await next.stop();

    const last = await startTestServer({ dataDir });
    expect((await publicKey(last)).keys).toContainEqual(
      expect.objectContaining({ key_id: first, status: 'distrusted' }),
    );
    expect((await publicKey(last)).distrust_list).toContain('DISTRUST LIST');
    await last.stop();
  });

  it('include unbound files from before keys were recorded, which the audit log knows', async () => {
    const dataDir = await keptDataDir();
    const old = await startTestServer({ dataDir });
    const license = await newLicense(old);
    await activateDevice(old, license);
    await old.admin.issueLicenseFile({ license: license.license_key });
    const { key_id } = await publicKey(old);
    await old.stop();
    await writeRows(
      dataDir,
      `DELETE FROM migrations WHERE name = '0009-distrust'`,
      'DROP TABLE unbound_license_files',
      'DROP TABLE distrust_lists',
      'ALTER TABLE activations DROP COLUMN signing_key_id',
      'ALTER TABLE signing_keys DROP COLUMN distrust_reason',
      'ALTER TABLE signing_keys DROP COLUMN distrusted_at',
    );
    const upgraded = await startTestServer({ dataDir });
    const { items } = await upgraded.admin.listFilesToReissue({ key_id });
    expect(
      items.map(({ machine_fingerprint, recorded }) => [machine_fingerprint === null, recorded]),
    ).toEqual([
      [true, true],
      [false, false],
    ]);
    await upgraded.stop();
  });
});
