import { createHash, generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../helpers/any-character.ts';
import { keyId } from '../../verifier/key-id.ts';
import { parsePublicKeys, PublicKeyFormatError } from '../../verifier/public-key-format.ts';
import { KEY, signingKey } from './sample-license-file.ts';

const RETIRED = signingKey(9);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const entry = (key: typeof KEY, status: string) => ({
  key_id: key.keyId,
  public_key: base64(key.publicKey),
  status,
});
const keys = [entry(KEY, 'active'), entry(RETIRED, 'retired')];
const reply = { ok: true, algorithm: 'Ed25519', key_id: KEY.keyId, public_key: base64(KEY.publicKey), keys };

test('a key id is the start of SHA-512 over the key', () => {
  expect(keyId(KEY.publicKey)).toBe(createHash('sha512').update(KEY.publicKey).digest('hex').slice(0, 16));
});

describe('public keys are read', () => {
  test.each<[string, string, string[]]>([
    ['from base64', base64(KEY.publicKey), [KEY.keyId]],
    ['from base64 with a newline', `${base64(KEY.publicKey)}\r\n`, [KEY.keyId]],
    ['from a PEM', KEY.publicKeyPem, [KEY.keyId]],
    ['from a PEM with Windows line ends', KEY.publicKeyPem.replaceAll('\n', '\r\n'), [KEY.keyId]],
    ['from the reply of /public-key/', JSON.stringify(reply, null, 2), [KEY.keyId, RETIRED.keyId]],
    ['from a reply with its key alone', JSON.stringify({ public_key: reply.public_key }), [KEY.keyId]],
    ['from a list alone', JSON.stringify({ keys }), [KEY.keyId, RETIRED.keyId]],
  ])('%s', (_name, text, expected) => {
    const parsed = parsePublicKeys(text);
    expect(parsed.map((key) => key.keyId)).toEqual(expected);
    expect(Buffer.from(parsed[0]!.publicKey)).toEqual(Buffer.from(KEY.publicKey));
  });
});

describe('public keys are refused', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
    format: 'pem',
    type: 'spki',
  });
  const x25519 = generateKeyPairSync('x25519').publicKey.export({ format: 'pem', type: 'spki' });
  test.each<[string, string, RegExp]>([
    ['empty', ' \n', /empty/],
    ['not base64', 'no key at all', /base64/],
    ['too short', base64(KEY.publicKey.slice(1)), /32 bytes; this one has 31/],
    ['an RSA key', rsa.toString(), /not an Ed25519/],
    ['an X25519 key', x25519.toString(), /not an Ed25519/],
    [
      'a private key',
      KEY.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      /exactly one PUBLIC KEY/,
    ],
    ['two PEMs', KEY.publicKeyPem + RETIRED.publicKeyPem, /base64/],
    ['broken JSON', '{', /JSON/],
    ['JSON without keys', '{"ok":true}', /neither/],
    ['keys that are no list', '{"keys":{}}', /list/],
    ['an entry that is none', '{"keys":[null]}', /text/],
    [
      'a key under a wrong name',
      JSON.stringify({ keys: [{ ...keys[0], key_id: RETIRED.keyId }] }),
      /does not belong/,
    ],
  ])('%s', (_name, text, message) => {
    expect(() => parsePublicKeys(text)).toThrow(PublicKeyFormatError);
    expect(() => parsePublicKeys(text)).toThrow(message);
  });

  test('any text, without another error', () => {
    const json = fc.jsonValue().map((value) => JSON.stringify(value));
    const nested = fc.jsonValue().map((value) => JSON.stringify({ keys: [value], public_key: value }));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: anyCharacter }), json, nested), (text) => {
        expect(() => parsePublicKeys(text)).toThrow(PublicKeyFormatError);
      }),
      { numRuns: 1000 },
    );
  });
});
