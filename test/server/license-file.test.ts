import { createDecipheriv, createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  DAY_MS,
  envelopeOf,
  FINGERPRINT,
  ISSUED_AT,
  KEY,
  LICENSE,
  licenseFile,
  nativeVerify,
} from '../verifier/sample-license-file.ts';

const GRACE_END = Date.parse(LICENSE.grace_ends_at);

function payloadOf(file: string): unknown {
  return JSON.parse(Buffer.from(envelopeOf(file).enc, 'base64').toString('utf8'));
}

describe('an issued license file', () => {
  test('is armour around base64 in lines of 64', () => {
    const lines = licenseFile().split('\n');
    expect(lines[0]).toBe('-----BEGIN LICENSE FILE-----');
    expect(lines.slice(-2)).toEqual(['-----END LICENSE FILE-----', '']);
    expect(lines.slice(1, -3).every((line) => /^[A-Za-z0-9+/]{64}$/.test(line))).toBe(true);
    expect(lines.at(-3)).toMatch(/^[A-Za-z0-9+/]{1,64}={0,2}$/);
  });

  test('signs "license/" and the text of enc', () => {
    const envelope = envelopeOf(licenseFile());
    expect(Object.keys(envelope)).toEqual(['enc', 'sig', 'alg', 'kid']);
    expect(envelope).toMatchObject({ alg: 'base64+ed25519', kid: KEY.keyId });
    const signature = Buffer.from(envelope.sig, 'base64');
    expect(nativeVerify(Buffer.from(`license/${envelope.enc}`), signature, KEY.publicKey)).toBe(true);
    expect(nativeVerify(Buffer.from(envelope.enc), signature, KEY.publicKey)).toBe(false);
  });

  test('has the fields of the contract', () => {
    expect(payloadOf(licenseFile())).toEqual({
      meta: { issued: '2026-01-15T12:00:00.000Z', expiry: '2026-04-15T12:00:00.000Z', ttl: 90 * 86_400 },
      license: LICENSE,
      machine: { fingerprint: FINGERPRINT },
      issuer: { name: 'Example Software', key_id: KEY.keyId },
    });
  });

  test('may be for any machine', () => {
    expect(payloadOf(licenseFile({ machine: null }))).toMatchObject({ machine: null });
  });

  test.each([
    ['its time to live', 90 * DAY_MS, ISSUED_AT + 90 * DAY_MS],
    ['its time to live, 1 ms before grace ends', GRACE_END - ISSUED_AT - 1, GRACE_END - 1],
    ['both at once', GRACE_END - ISSUED_AT, GRACE_END],
    ['grace, 1 ms before its time to live', GRACE_END - ISSUED_AT + 1, GRACE_END],
    ['grace, however long its time to live', 4000 * DAY_MS, GRACE_END],
    ['grace, without a time to live', null, GRACE_END],
  ])('ends with %s', (_name, ttlMs, expiry) => {
    const ttl = ttlMs === null ? null : Math.floor(ttlMs / 1000);
    expect(payloadOf(licenseFile({ ttlMs }))).toMatchObject({
      meta: { expiry: new Date(expiry).toISOString(), ttl },
    });
  });
});

describe('an encrypted license file', () => {
  const encryptFor = { licenseKey: LICENSE.license_key, fingerprint: FINGERPRINT };

  test('is AES-256-GCM under SHA-256 of license key + fingerprint, and signed in encrypted form', () => {
    const file = licenseFile({ encryptFor });
    const { enc, sig, alg } = envelopeOf(file);
    expect(alg).toBe('aes-256-gcm+ed25519');
    expect(nativeVerify(Buffer.from(`license/${enc}`), Buffer.from(sig, 'base64'), KEY.publicKey)).toBe(true);

    const [ciphertext, iv, tag] = enc.split('.').map((part) => Buffer.from(part, 'base64'));
    const secret = createHash('sha256').update(LICENSE.license_key).update(FINGERPRINT).digest();
    const decipher = createDecipheriv('aes-256-gcm', secret, iv!, { authTagLength: 16 }).setAuthTag(tag!);
    const plain = Buffer.concat([decipher.update(ciphertext!), decipher.final()]).toString('utf8');
    expect(JSON.parse(plain)).toEqual(payloadOf(licenseFile()));
  });

  test('never repeats a nonce', () => {
    const nonces = Array.from(
      { length: 200 },
      () => envelopeOf(licenseFile({ encryptFor })).enc.split('.')[1],
    );
    expect(new Set(nonces).size).toBe(nonces.length);
  });
});
