// License files under a key that leaked are refused, by a list that only a trusted key can sign.
import { describe, expect, test } from 'vitest';
import { issueDistrustList } from '#server/features/signing/distrust-list-issuer.ts';
import { DistrustListError } from '../../verifier/distrust-list.ts';
import { parsePublicKeys } from '../../verifier/public-key-format.ts';
import { verifyLicenseFile, type VerificationOptions } from '../../verifier/verify-license-file.ts';
import {
  DAY_MS,
  envelopeOf,
  fileOf,
  FINGERPRINT,
  ISSUED_AT,
  KEY,
  licenseFile,
  nativeVerify,
  signingKey,
  type SigningKey,
} from './sample-license-file.ts';

const NEW_KEY = signingKey(8);
const STRANGER = signingKey(9);
const LEAKED_AT = ISSUED_AT + DAY_MS;
const file = licenseFile();

/** A list that `signer` signs; KEY is the one that leaked. */
function listOf({ distrusted = [KEY], signer = NEW_KEY, lastSequence = 6 }: ListOptions = {}): string {
  return issueDistrustList({
    distrusted: distrusted.map(({ keyId }) => ({ keyId, distrustedAt: LEAKED_AT })),
    lastSequence,
    issuedAt: 0,
    keyId: signer.keyId,
    sign: signer.sign,
  }).document;
}

interface ListOptions {
  distrusted?: SigningKey[];
  signer?: SigningKey;
  lastSequence?: number;
}

function verify(options: Partial<VerificationOptions>, text = file) {
  const keys = [KEY, NEW_KEY];
  return verifyLicenseFile(text, { keys, now: LEAKED_AT, fingerprint: FINGERPRINT, ...options });
}

describe('a distrust list', () => {
  test.each<[string, Partial<VerificationOptions>]>([
    ['in plain JavaScript', {}],
    ['by node:crypto', { verifySignature: nativeVerify }],
  ])('refuses files under its keys, checked %s', async (_how, options) => {
    const result = await verify({ distrustList: listOf(), ...options });
    expect(result).toMatchObject({
      valid: false,
      reason: 'key_distrusted',
      license: null,
      machine: null,
      keyId: KEY.keyId,
      distrustList: { sequence: 7, issuedAt: 0 },
    });
    expect(result.checks.map(({ rule, passed }) => [rule, passed])).toEqual([
      ['known_key', true],
      ['trusted_key', false],
    ]);
    expect(result.checks[1]?.detail).toContain(new Date(LEAKED_AT).toISOString());
  });

  test('leaves files under other keys alone', async () => {
    const other = licenseFile({ sign: NEW_KEY.sign, keyId: NEW_KEY.keyId });
    expect(await verify({ distrustList: listOf() }, other)).toMatchObject({ valid: true });
  });

  test('may have been rewrapped on its way', async () => {
    const distrustList = listOf().replaceAll('\n', '\r\n  ');
    expect(await verify({ distrustList })).toMatchObject({ reason: 'key_distrusted' });
  });

  const list = listOf();
  const envelope = envelopeOf(list);
  const asList = (changed: object) => fileOf(changed).replaceAll('LICENSE FILE', 'DISTRUST LIST');
  test.each<[string, Partial<VerificationOptions>, string]>([
    ['a key nobody knows', { distrustList: listOf({ signer: STRANGER }) }, 'not a trusted key'],
    ['the key it distrusts', { distrustList: listOf({ signer: KEY }) }, 'itself distrusted'],
    [
      'a key that is distrusted elsewhere',
      { distrustList: list, keys: [KEY, { ...NEW_KEY, distrusted: true }] },
      'itself distrusted',
    ],
    [
      'a key under the name of another',
      { distrustList: asList({ ...envelope, kid: KEY.keyId }) },
      'signature of the distrust list is wrong',
    ],
  ])('signed with %s is refused', async (_name, options, message) => {
    await expect(verify(options)).rejects.toThrow(DistrustListError);
    await expect(verify(options)).rejects.toThrow(message);
  });

  test.each<[string, string, string]>([
    ['no list', 'nothing', 'not a distrust list'],
    ['a license file', file, 'not a distrust list'],
    ['a license file in its armour', file.replaceAll('LICENSE FILE', 'DISTRUST LIST'), 'is wrong'],
    ['no signature', asList({ ...envelope, sig: '' }), 'damaged'],
    ['another algorithm', asList({ ...envelope, alg: 'none' }), 'damaged'],
    [
      'other contents',
      asList({ ...envelope, enc: envelopeOf(listOf({ distrusted: [] })).enc }),
      'signature of the distrust list is wrong',
    ],
  ])('with %s is refused', async (_name, distrustList, message) => {
    await expect(verify({ distrustList })).rejects.toThrow(message);
  });

  test('cannot pass for a license file', async () => {
    const posing = list.replaceAll('DISTRUST LIST', 'LICENSE FILE');
    expect(await verify({}, posing)).toMatchObject({ reason: 'signature_invalid', license: null });
  });

  test('that is older than one seen before is refused', async () => {
    const distrustList = listOf({ lastSequence: 6 });
    expect(await verify({ distrustList, minDistrustSequence: 7 })).toMatchObject({
      reason: 'key_distrusted',
    });
    await expect(verify({ distrustList, minDistrustSequence: 8 })).rejects.toThrow('at least 8 is required');
  });
});

test('keys that the server lists as distrusted are known, and refused without a list', async () => {
  const keys = parsePublicKeys(
    JSON.stringify({
      public_key: Buffer.from(NEW_KEY.publicKey).toString('base64'),
      keys: [
        {
          key_id: KEY.keyId,
          public_key: Buffer.from(KEY.publicKey).toString('base64'),
          status: 'distrusted',
        },
      ],
    }),
  );
  expect(await verify({ keys })).toMatchObject({ valid: false, reason: 'key_distrusted', license: null });
});
