import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parsePublicKeys } from '../../verifier/public-key-format.ts';
import { verifyLicenseFile } from '../../verifier/verify-license-file.ts';
import { activateDevice, adminSuccess, callAdmin, newLicense, success } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';
import { envelopeOf } from '../verifier/sample-license-file.ts';

const server = sharedServer();

const publicKey = () => success(server, 'publicKey', {});
const rotate = () => adminSuccess(server, 'rotateSigningKey');
const newFile = async () => (await activateDevice(server, await newLicense(server))).license_file;

describe('GET /public-key/', () => {
  it('gives the one key in both forms', async () => {
    const body = await publicKey();
    const raw = Buffer.from(body.public_key, 'base64');
    expect(raw).toHaveLength(32);
    expect(raw.toString('base64')).toBe(body.public_key);
    expect(body.public_key_pem).toMatch(
      /^-----BEGIN PUBLIC KEY-----\n[\w+/=\n]+-----END PUBLIC KEY-----\n$/u,
    );
    const key = createPublicKey(body.public_key_pem);
    expect(key.asymmetricKeyType).toBe('ed25519');
    expect(key.export({ format: 'der', type: 'spki' }).subarray(-32)).toEqual(raw);
    expect(body.keys).toEqual([{ key_id: body.key_id, public_key: body.public_key, status: 'active' }]);
    expect(body.algorithm).toBe('Ed25519');
  });

  it('is the key that license files are signed with', async () => {
    const body = await publicKey();
    const { enc, sig, kid } = envelopeOf(await newFile());
    expect(kid).toBe(body.key_id);
    const message = Buffer.from(`license/${enc}`);
    expect(verify(null, message, createPublicKey(body.public_key_pem), Buffer.from(sig, 'base64'))).toBe(
      true,
    );
  });

  it('is all that an offline verifier needs', async () => {
    const keys = parsePublicKeys(JSON.stringify(await publicKey()));
    expect(
      await verifyLicenseFile(await newFile(), { keys, now: Date.now(), anyMachine: true }),
    ).toMatchObject({
      valid: true,
      reason: null,
    });
  });
});

describe('a rotation', () => {
  it('keeps every old key listed, and every old file valid', async () => {
    const before = await publicKey();
    const files = [await newFile()];
    for (let time = 0; time < 3; time += 1) {
      const rotated = await rotate();
      expect(await publicKey()).toEqual(rotated);
      files.push(await newFile());
    }
    const after = await publicKey();
    expect(after.key_id).not.toBe(before.key_id);
    expect(after.keys).toHaveLength(4);
    expect(after.keys).toContainEqual({ ...before.keys[0], status: 'retired' });
    const active = after.keys.filter(({ status }: { status: string }) => status === 'active');
    expect(active).toEqual([{ key_id: after.key_id, public_key: after.public_key, status: 'active' }]);
    expect(new Set(files.map((file) => envelopeOf(file).kid)).size).toBe(4);
    for (const license_file of files) {
      expect(await success(server, 'validateOffline', { license_file })).toMatchObject({
        valid: true,
        reason: null,
      });
    }
  });

  it('leaves one active key, however many rotate at once', async () => {
    const { keys: before } = await publicKey();
    const replies = await Promise.all(Array.from({ length: 6 }, () => callAdmin(server, 'rotateSigningKey')));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const { keys } = await publicKey();
    expect(keys).toHaveLength(before.length + 6);
    expect(keys.filter(({ status }: { status: string }) => status === 'active')).toHaveLength(1);
  });

  it('is written down, without a private key', async () => {
    const { key_id: before } = await publicKey();
    const { key_id: after } = await rotate();
    const [entry] = (await server.admin.listAudit({ limit: 1 })).items;
    expect(entry).toMatchObject({
      action: 'signing_key.rotated',
      subject: `signing_key:${after}`,
      before: { key_id: before },
      after: { key_id: after },
    });
  });

  it('is nothing for strangers', async () => {
    expectFailure(await callAdmin(server, 'rotateSigningKey', {}, {}), 'unauthorized');
  });
});

describe('over a restart', () => {
  it('keys stay, and private ones are sealed at rest', async () => {
    const dataDir = await keptDataDir();
    const first = await startTestServer({ dataDir });
    await first.admin.rotateSigningKey({});
    const { body: before } = await first.get('/public-key/');
    await first.stop();
    const second = await startTestServer({ dataDir });
    expect((await second.get('/public-key/')).body).toEqual(before);
    await second.stop();
    const rows = await selectRows(dataDir, 'SELECT private_key_sealed AS sealed FROM signing_keys');
    expect(rows).toHaveLength(2);
    // A PKCS#8 Ed25519 key would begin like this.
    for (const { sealed } of rows as { sealed: string }[])
      expect(sealed).toMatch(/^v1\.(?!MC4CAQ)[\w+/=]+$/u);
  });
});
