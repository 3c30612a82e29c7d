import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { CannotDecryptError } from '../../verifier/license-file-decryption.ts';
import type { VerificationReason } from '../../verifier/license-file-rules.ts';
import {
  NotALicenseFileError,
  verifyLicenseFile,
  type VerificationOptions,
} from '../../verifier/verify-license-file.ts';
import {
  DAY_MS,
  envelopeOf,
  fileOf,
  FINGERPRINT,
  ISSUED_AT,
  KEY,
  LICENSE,
  licenseFile,
  nativeVerify,
  OTHER_FINGERPRINT,
  signedFileOf,
  signingKey,
  twinOf,
} from './sample-license-file.ts';

const EXPIRES = Date.parse(LICENSE.expires_at);
const GRACE_END = Date.parse(LICENSE.grace_ends_at);
const FILE_END = ISSUED_AT + 90 * DAY_MS;
const NOW = ISSUED_AT + DAY_MS;
const OTHER_KEY = signingKey(8);

function verify(text: string, options: Partial<VerificationOptions> = {}) {
  return verifyLicenseFile(text, { keys: [KEY], now: NOW, fingerprint: FINGERPRINT, ...options });
}

describe('a license file', () => {
  const file = licenseFile();
  const unlimited = licenseFile({ ttlMs: null });
  const revoked = licenseFile({ license: { ...LICENSE, state: 'revoked' } });
  const unbound = licenseFile({ machine: null });

  test.each<[string, string, Partial<VerificationOptions>, VerificationReason | null]>([
    ['is good', file, {}, null],
    [
      'is good for its machine, product and feature',
      file,
      { fingerprint: FINGERPRINT, product: 'my-product', feature: 'export' },
      null,
    ],
    ['does not mind the case of a fingerprint', file, { fingerprint: FINGERPRINT.toUpperCase() }, null],
    ['may be checked with several keys', file, { keys: [OTHER_KEY, KEY] }, null],
    ['needs a key', file, { keys: [] }, 'unknown_key_id'],
    ['needs its key', file, { keys: [OTHER_KEY] }, 'unknown_key_id'],
    [
      'needs its key, not one of that name',
      file,
      { keys: [{ ...OTHER_KEY, keyId: KEY.keyId }] },
      'signature_invalid',
    ],
    ['tolerates a clock 5 minutes slow', file, { now: ISSUED_AT - 300_000 }, null],
    ['refuses a clock slower than that', file, { now: ISSUED_AT - 300_001 }, 'not_yet_valid'],
    ['lasts as long as its time to live', file, { now: FILE_END - 1 }, null],
    ['ends with its time to live', file, { now: FILE_END }, 'file_expired'],
    ['lasts through grace', unlimited, { now: GRACE_END - 1 }, null],
    ['ends with grace', unlimited, { now: GRACE_END }, 'license_expired'],
    ['ends with the license before its own end', file, { now: GRACE_END }, 'license_expired'],
    ['may report a revoked license', revoked, {}, 'license_revoked'],
    ['needs a machine to compare', file, { fingerprint: undefined }, 'machine_mismatch'],
    [
      'is good on any machine if the caller says so',
      file,
      { fingerprint: undefined, anyMachine: true },
      null,
    ],
    [
      'is compared if there is a fingerprint, whatever else the caller says',
      file,
      { fingerprint: OTHER_FINGERPRINT, anyMachine: true },
      'machine_mismatch',
    ],
    ['is for its machine', file, { fingerprint: OTHER_FINGERPRINT }, 'machine_mismatch'],
    ['may be for any machine', unbound, { fingerprint: OTHER_FINGERPRINT }, null],
    ['may be for any machine, without a fingerprint', unbound, { fingerprint: undefined }, null],
    ['is for its product', file, { product: 'other' }, 'product_mismatch'],
    ['is for its features', file, { feature: 'admin' }, 'feature_not_included'],
    ['has features by their whole name', file, { feature: 'repo' }, 'feature_not_included'],
    [
      'gives the first reason of several',
      revoked,
      { now: FILE_END, fingerprint: OTHER_FINGERPRINT, product: 'x' },
      'file_expired',
    ],
  ])('%s', async (_name, text, options, reason) => {
    const result = await verify(text, options);
    expect(result.reason).toBe(reason);
    expect(result.valid).toBe(reason === null);
    const proven = reason !== 'unknown_key_id' && reason !== 'signature_invalid';
    expect(result.license !== null).toBe(proven);
  });

  test('gives back what was signed, and every check', async () => {
    const result = await verify(file, {
      fingerprint: FINGERPRINT,
      product: 'my-product',
      feature: 'reports',
    });
    expect(result).toMatchObject({
      license: LICENSE,
      machine: { fingerprint: FINGERPRINT },
      signedAt: ISSUED_AT,
      fileExpiresAt: FILE_END,
      keyId: KEY.keyId,
    });
    expect(result.checks.map((check) => check.rule)).toEqual([
      'known_key',
      'trusted_key',
      'signature',
      'contents',
      'clock',
      'license_term',
      'file_term',
      'not_revoked',
      'machine',
      'product',
      'feature',
    ]);
    expect(result.checks.every((check) => check.passed && check.detail.length > 0)).toBe(true);
  });

  test('names every failed check, not only the first', async () => {
    const { checks } = await verify(revoked, {
      now: FILE_END,
      fingerprint: OTHER_FINGERPRINT,
      product: 'x',
      feature: 'y',
    });
    const failures = checks.filter((check) => !check.passed).map((check) => check.rule);
    expect(failures).toEqual(['file_term', 'not_revoked', 'machine', 'product', 'feature']);
  });

  test('says how to check a bound file without a fingerprint', async () => {
    const { checks } = await verify(file, { fingerprint: undefined });
    const detail = checks.find((check) => check.rule === 'machine')?.detail;
    expect(detail).toContain('Pass `fingerprint`, or `anyMachine: true`');
  });

  test.each([
    ['active', NOW, 'active'],
    ['issued', NOW, 'issued'],
    ['active', EXPIRES - 7 * DAY_MS, 'active'],
    ['active', EXPIRES - 7 * DAY_MS + 1, 'expiring'],
    ['issued', EXPIRES, 'in_grace'],
    ['active', GRACE_END, 'expired'],
    ['expiring', NOW, 'active'],
    ['revoked', GRACE_END, 'revoked'],
  ] as const)('signed as %s is by now (%d) %s', async (state, now, expected) => {
    const result = await verify(licenseFile({ license: { ...LICENSE, state }, ttlMs: null }), { now });
    expect(result.license?.state).toBe(expected);
  });
});

describe('a license file on its way', () => {
  const file = licenseFile();
  test.each<[string, (text: string) => string]>([
    ['Windows line ends', (text) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text) => `\uFEFF${text}`],
    ['blank lines around', (text) => `\n\n  ${text}\n\n`],
    ['no final newline', (text) => text.trim()],
    ['indentation', (text) => text.replace(/^/gm, '    ')],
    [
      'other line lengths',
      (text) => text.replace(/(.{7})/g, '$1\n').replace(/-----[^]*?-----/g, (l) => l.replaceAll('\n', '')),
    ],
    ['no line ends', (text) => text.replaceAll('\n', ' ')],
  ])('survives %s', async (_name, change) => {
    expect((await verify(change(file))).valid).toBe(true);
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['prose', 'Dear customer, your license is attached.'],
    ['another PEM', file.replaceAll('LICENSE FILE', 'CERTIFICATE')],
    ['no end', file.slice(0, 200)],
    ['only a frame', '-----BEGIN LICENSE FILE-----\n-----END LICENSE FILE-----'],
    ['half a frame', '-----BEGIN LICENSE FILE-----'],
    ['garbage in a frame', '-----BEGIN LICENSE FILE-----\nhello\n-----END LICENSE FILE-----'],
    ['a list in a frame', fileOf([1, 2])],
    ['text before it', `From: me\n${file}`],
    ['text after it', `${file}-- \nme`],
    ['too much', file.replace('\n', ' '.repeat(2_000_000))],
  ])('is no license file: %s', async (_name, text) => {
    await expect(verify(text)).rejects.toThrow(NotALicenseFileError);
  });
});

describe('a forged license file', () => {
  const file = licenseFile();
  const envelope = envelopeOf(file);
  const signature = Buffer.from(envelope.sig, 'base64');
  const payload = JSON.parse(Buffer.from(envelope.enc, 'base64').toString('utf8')) as Record<string, unknown>;

  test.each<[string, unknown]>([
    [
      'another payload',
      { ...envelope, enc: Buffer.from(JSON.stringify({ ...payload, machine: null })).toString('base64') },
    ],
    ['an empty payload', { ...envelope, enc: '' }],
    ['an empty signature', { ...envelope, sig: '' }],
    ['a short signature', { ...envelope, sig: signature.subarray(1).toString('base64') }],
    ['a signature of zeros', { ...envelope, sig: Buffer.alloc(64).toString('base64') }],
    ['the signature respelled', { ...envelope, sig: Buffer.from(twinOf(signature)).toString('base64') }],
    ['the signature in base64url', { ...envelope, sig: signature.toString('base64url') }],
    ['the signature with a space', { ...envelope, sig: ` ${envelope.sig}` }],
    [
      'the signature with a line break',
      { ...envelope, sig: `${envelope.sig.slice(0, 40)}\n${envelope.sig.slice(40)}` },
    ],
    ['the signature without padding', { ...envelope, sig: envelope.sig.replaceAll('=', '') }],
    [
      'stray bits behind the signature',
      {
        ...envelope,
        sig: envelope.sig.replace(
          /(.)==$/,
          (_, c: string) => `${String.fromCharCode(c.charCodeAt(0) + 1)}==`,
        ),
      },
    ],
    ['a space in enc', { ...envelope, enc: ` ${envelope.enc}` }],
    ['a line break in enc', { ...envelope, enc: `${envelope.enc}\n` }],
    ['no signature', { enc: envelope.enc, alg: envelope.alg, kid: envelope.kid }],
    ['no key id', { enc: envelope.enc, sig: envelope.sig, alg: envelope.alg }],
    ['a key id that is no text to show', { ...envelope, kid: '\u001b[2J' }],
    ['a list for enc', { ...envelope, enc: [envelope.enc] }],
    ['no algorithm', { ...envelope, alg: 'none' }],
    ['the algorithm of encrypted files', { ...envelope, alg: 'aes-256-gcm+ed25519' }],
  ])('with %s is refused', async (_name, forged) => {
    const options = { fingerprint: FINGERPRINT, licenseKey: LICENSE.license_key };
    const result = await verify(fileOf(forged), options);
    expect(result).toMatchObject({ valid: false, reason: 'signature_invalid', license: null, machine: null });
  });

  test('with a signature of the wrong length never reaches the signature check', async () => {
    const verifySignature = vi.fn(() => true);
    const sig = signature.subarray(1).toString('base64');
    const { checks } = await verify(fileOf({ ...envelope, sig }), { verifySignature });
    expect(checks[0]?.detail).toBe('The license file is damaged: its signature is malformed.');
    expect(verifySignature).not.toHaveBeenCalled();
  });

  test.each<[string, unknown]>([
    ['nothing', null],
    ['a list', []],
    ['no license', { ...payload, license: undefined }],
    ['a bare machine', { ...payload, machine: FINGERPRINT }],
    ['a machine without fingerprint', { ...payload, machine: {} }],
    ['a numeric feature', { ...payload, license: { ...LICENSE, features: [1] } }],
    ['an impossible date', { ...payload, license: { ...LICENSE, grace_ends_at: '2026-13-45T00:00:00Z' } }],
    ['a local time', { ...payload, license: { ...LICENSE, expires_at: '2026-01-01T00:00:00' } }],
    ['an unknown state', { ...payload, license: { ...LICENSE, state: 'eternal' } }],
    ['no expiry', { ...payload, meta: { issued: LICENSE.issued_at, ttl: null } }],
  ])('properly signed around %s is refused', async (_name, strange) => {
    expect(await verify(signedFileOf(strange))).toMatchObject({
      valid: false,
      reason: 'signature_invalid',
      license: null,
    });
  });

  test('properly signed around any JSON never crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        expect((await verify(signedFileOf(value), { verifySignature: nativeVerify })).valid).toBe(false);
      }),
    );
  });

  test('may say more than this version knows', async () => {
    expect((await verify(signedFileOf({ ...payload, renewed: true }))).valid).toBe(true);
  });
});

describe('an encrypted license file', () => {
  const encryptFor = { licenseKey: LICENSE.license_key, fingerprint: FINGERPRINT };
  const file = licenseFile({ encryptFor });

  test('opens with its license key and fingerprint', async () => {
    const result = await verify(file, encryptFor);
    expect(result).toMatchObject({ valid: true, license: LICENSE, machine: { fingerprint: FINGERPRINT } });
    expect(result.checks.map((check) => check.rule)).toContain('decryption');
  });

  test.each([
    ['another machine', { ...encryptFor, fingerprint: OTHER_FINGERPRINT }],
    ['another license key', { ...encryptFor, licenseKey: 'ZZZZZ-ZZZZZ-ZZZZZ-ZZZZZ-ZZZZZ' }],
  ])('stays shut for %s', async (_name, secret) => {
    expect(await verify(file, secret)).toMatchObject({
      valid: false,
      reason: 'machine_mismatch',
      license: null,
    });
  });

  test.each([
    ['nothing', { fingerprint: undefined }],
    ['only the fingerprint', { fingerprint: FINGERPRINT }],
    ['only the license key', { fingerprint: undefined, licenseKey: LICENSE.license_key }],
  ])('asks for its keys when given %s', async (_name, secret) => {
    await expect(verify(file, secret)).rejects.toThrow(CannotDecryptError);
  });

  test('says so where there is no WebCrypto, unlike a readable one', async () => {
    vi.stubGlobal('crypto', { getRandomValues: () => undefined });
    try {
      await expect(verify(file, encryptFor)).rejects.toThrow(/WebCrypto/);
      expect((await verify(licenseFile())).valid).toBe(true);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('is refused for its signature before any key is asked for', async () => {
    const envelope = envelopeOf(file);
    const forged = fileOf({
      ...envelope,
      enc: `A${envelope.enc.slice(1)}` === envelope.enc ? 'B' : `A${envelope.enc.slice(1)}`,
    });
    expect(await verify(forged)).toMatchObject({ valid: false, reason: 'signature_invalid' });
  });

  test('properly signed but no triple is refused', async () => {
    for (const enc of ['', 'AAAA', 'AAAA.AAAA.AAAA', `${envelopeOf(file).enc}.AAAA`]) {
      const sig = Buffer.from(KEY.sign(Buffer.from(`license/${enc}`))).toString('base64');
      const strange = fileOf({ enc, sig, alg: 'aes-256-gcm+ed25519', kid: KEY.keyId });
      expect(await verify(strange, encryptFor)).toMatchObject({ valid: false, reason: 'signature_invalid' });
    }
  });
});
