import { createPublicKey, X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { buildClientCertificate } from '#server/features/certificates/certificate-builder.ts';
import { readElements, tlv } from '#server/features/certificates/der.ts';
import { toSpki } from '#server/features/certificates/issuer.ts';
import { readSigningRequest, SigningRequestError } from '#server/features/certificates/signing-request.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import {
  certificateFile,
  dsaKeyFile,
  fileOf,
  leafOf,
  makeAuthority,
  makeKey,
  openssl,
  verifyErrors,
  withUnknownType,
} from './openssl.ts';

const RSA = ['-algorithm', 'RSA', '-pkeyopt'];
/** More primes than two: found in a fraction of the time, and nothing that shows in a public key. */
const largeRsa = (bits: number, primes: number) => [
  ...RSA,
  `rsa_keygen_bits:${bits}`,
  '-pkeyopt',
  `rsa_keygen_primes:${primes}`,
];
const curve = (name: string) => ['-algorithm', 'EC', '-pkeyopt', `ec_paramgen_curve:${name}`];
const request = (keyFile: string, ...options: string[]) =>
  openssl(['req', '-new', '-key', keyFile, '-subj', '/CN=client', ...options]);

const toDer = (pem: string) => Buffer.from(pem.replaceAll(/-----.*-----|\s/gu, ''), 'base64');
const toRequest = (der: Buffer, label = 'CERTIFICATE REQUEST') =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replaceAll(/.{64}/gu, '$&\n')}\n-----END ${label}-----\n`;

/** The sentence with which a text is refused. */
function refusal(pem: string): string {
  try {
    readSigningRequest(pem);
  } catch (error) {
    expect(error).toBeInstanceOf(SigningRequestError);
    return (error as Error).message;
  }
  throw new Error('the request was accepted');
}

/** Whether it is taken; that it is refused in the right way is checked. */
function isTaken(pem: string): boolean {
  try {
    return readSigningRequest(pem).publicKey.type === 'public';
  } catch (error) {
    if (!(error instanceof SigningRequestError)) throw error;
    expect(error.message).toMatch(/^[A-Z][^\n]+\.$/u);
    return false;
  }
}

describe('a request', () => {
  test.each([
    ['RSA-2048', [...RSA, 'rsa_keygen_bits:2048'], '-sha256'],
    ['RSA-2048 with SHA-384', [...RSA, 'rsa_keygen_bits:2048'], '-sha384'],
    ['RSA-3072 with SHA-512', largeRsa(3072, 3), '-sha512'],
    ['RSA-4096', largeRsa(4096, 4), '-sha256'],
    ['P-256', curve('P-256'), '-sha256'],
    ['P-256 with SHA-512', curve('P-256'), '-sha512'],
    ['P-384', curve('P-384'), '-sha384'],
    ['P-521', curve('P-521'), '-sha512'],
    ['Ed25519', ['-algorithm', 'ED25519'], '-sha256'],
  ])('with %s gives its key', (_name, key, digest) => {
    const { file, privateKey } = makeKey(...key);
    const { publicKey } = readSigningRequest(request(file, digest));
    expect(publicKey.type).toBe('public');
    expect(publicKey.equals(createPublicKey(privateKey))).toBe(true);
    expect(toSpki(publicKey)).toEqual(publicKey.export({ type: 'spki', format: 'der' }));
  });

  test('may ask for extensions and other names: the certificate is what we make it', () => {
    const { file } = makeKey('-algorithm', 'ED25519');
    const { publicKey } = readSigningRequest(
      request(
        file,
        '-addext',
        'basicConstraints=critical,CA:TRUE',
        '-addext',
        'subjectAltName=DNS:bank.example',
        '-addext',
        'extendedKeyUsage=serverAuth',
      ),
    );
    const authority = makeAuthority();
    const certificate = buildClientCertificate({
      ...leafOf(authority, publicKey),
      names: { commonName: 'Jan' },
    });
    const read = new X509Certificate(certificate);
    expect([read.ca, read.subject, read.subjectAltName]).toEqual([false, 'CN=Jan', undefined]);
    const files = ['-CAfile', certificateFile(authority.certificate), certificateFile(certificate)];
    expect(verifyErrors(['-purpose', 'sslclient', ...files])).toEqual([]);
  });

  test('comes in the ways in which tools write it', () => {
    const { file } = makeKey('-algorithm', 'ED25519');
    const pem = request(file);
    const der = toDer(pem);
    expect(isTaken(request(file, '-newhdr'))).toBe(true);
    expect(isTaken(request(file, '-text'))).toBe(true);
    expect(isTaken(pem.replaceAll('\n', '\r\n'))).toBe(true);
    expect(isTaken(`\uFEFF  ${pem}\n\n`)).toBe(true);
    expect(isTaken(toRequest(der, 'NEW CERTIFICATE REQUEST'))).toBe(true);
    const label = 'CERTIFICATE REQUEST-----';
    expect(isTaken(`-----BEGIN ${label}\n${der.toString('base64')}\n-----END ${label}`)).toBe(true);
  });
});

describe('refused is', () => {
  const weak = 'The signing request must be signed with SHA-256, SHA-384, SHA-512 or Ed25519.';
  const pss = 'The signing request must be signed with PKCS #1 v1.5, not RSA-PSS, if its key is RSA.';
  const kind = (type: string) => `The key in the signing request must be RSA, EC or Ed25519 (got ${type}).`;
  const bits = 'An RSA key must have 2048 to 4096 bits.';
  const onCurves = (type: string) => `An EC key must be on P-256, P-384 or P-521 (got ${type}).`;
  test.each<[name: string, key: string[], options: string[], sentence: string]>([
    ['SHA-1', [...RSA, 'rsa_keygen_bits:2048'], ['-sha1'], weak],
    ['MD5', [...RSA, 'rsa_keygen_bits:2048'], ['-md5'], weak],
    ['SHA-224', [...RSA, 'rsa_keygen_bits:2048'], ['-sha224'], weak],
    ['ECDSA with SHA-1', curve('P-256'), ['-sha1'], weak],
    ['RSA-PSS', [...RSA, 'rsa_keygen_bits:2048'], ['-sigopt', 'rsa_padding_mode:pss'], pss],
    [
      'a key for RSA-PSS alone',
      ['-algorithm', 'RSA-PSS', '-pkeyopt', 'rsa_keygen_bits:2048'],
      [],
      kind('RSA-PSS'),
    ],
    ['RSA-1024', [...RSA, 'rsa_keygen_bits:1024'], [], bits],
    ['RSA-2047', [...RSA, 'rsa_keygen_bits:2047'], [], bits],
    ['RSA-4104', largeRsa(4104, 4), [], bits],
    [
      'an exponent of 3',
      [...RSA, 'rsa_keygen_bits:2048', '-pkeyopt', 'rsa_keygen_pubexp:3'],
      [],
      'The exponent of an RSA key must be odd and at least 65537.',
    ],
    ['secp256k1', curve('secp256k1'), [], onCurves('EC secp256k1')],
    ['a Brainpool curve', curve('brainpoolP256r1'), [], onCurves('EC brainpoolP256r1')],
    ['P-224', curve('P-224'), [], onCurves('EC P-224')],
    ['a curve without a name here', curve('sect571r1'), [], onCurves('EC 1.3.132.0.39')],
    [
      'a curve that is spelled out',
      [...curve('P-256'), '-pkeyopt', 'ec_param_enc:explicit'],
      [],
      onCurves('EC specifiedCurve'),
    ],
    ['Ed448', ['-algorithm', 'ED448'], [], kind('Ed448')],
  ])('%s', (_name, key, options, sentence) => {
    expect(refusal(request(makeKey(...key).file, ...options))).toBe(sentence);
  });

  test('DSA', () => {
    expect(refusal(request(dsaKeyFile()))).toBe(kind('DSA'));
  });

  test('a type that the crypto library does not know', () => {
    const der = toDer(request(makeKey('-algorithm', 'ED448').file));
    expect(refusal(toRequest(withUnknownType(der)))).toBe(kind('1.3.101.114'));
  });

  test('a type whose identifier is as long as the request may be', () => {
    const { file } = makeKey('-algorithm', 'ED25519');
    const der = toDer(request(file));
    const [content] = readElements(readElements(der)[0]!.content);
    const [version, subject, , attributes] = readElements(content!.content);
    const algorithm = tlv(0x30, tlv(0x06, Buffer.alloc(10_000, 0xff), Buffer.of(1)));
    const key = tlv(0x30, algorithm, tlv(0x03, Buffer.alloc(33)));
    const parts = [version!.bytes, subject!.bytes, key, attributes!.bytes];
    const rest = der.subarray(der.indexOf(content!.bytes) + content!.bytes.length);
    expect(refusal(toRequest(tlv(0x30, tlv(0x30, ...parts), rest)))).toBe(kind('an unknown type'));
  });

  test('a compressed point', () => {
    const { file } = makeKey(...curve('P-256'));
    const compressed = openssl(['ec', '-in', file, '-conv_form', 'compressed']);
    expect(refusal(request(fileOf(compressed)))).toBe('The point of an EC key must not be compressed.');
  });

  test('a signature of another key, another content, or none', () => {
    const { file } = makeKey('-algorithm', 'ED25519');
    const der = toDer(request(file));
    const other = toDer(request(makeKey('-algorithm', 'ED25519').file));
    const sentence = 'The signature of the signing request does not match its key.';
    const mixed = Buffer.concat([der.subarray(0, -64), other.subarray(-64)]);
    expect(refusal(toRequest(mixed))).toBe(sentence);
    const renamed = Buffer.from(der);
    renamed.write('CLIENT', der.indexOf('client'));
    expect(refusal(toRequest(renamed))).toBe(sentence);
    expect(refusal(toRequest(Buffer.concat([der.subarray(0, -64), Buffer.alloc(64)])))).toBe(sentence);
    // Ed25519's identifier in place of ECDSA's: the key is not of that kind.
    const ec = toDer(request(makeKey(...curve('P-256')).file));
    const algorithm = ec.lastIndexOf(Buffer.from('300a06082a8648ce3d040302', 'hex'));
    const content = ec.subarray(ec.indexOf(0x30, 1), algorithm);
    const parts = [content, Buffer.from('300506032b6570', 'hex'), ec.subarray(algorithm + 12)];
    expect(refusal(toRequest(tlv(0x30, ...parts)))).toBe(sentence);
  });

  const none = 'The signing request must contain a PEM certificate request.';
  const undecodable = 'The signing request is damaged: its PEM block cannot be decoded.';
  const malformed = 'The signing request is damaged: it is not in the form of PKCS#10.';
  const block = (body: string) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----`;
  test.each([
    ['nothing', '', none],
    ['garbage', 'garbage', none],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', none],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', none],
    ['an empty block', block(''), undecodable],
    ['a block without end', '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n', undecodable],
    ['another end', block('AAAA').replace('END ', 'END NEW '), undecodable],
    ['half a base64 group', block('AAAAA'), undecodable],
    ['padding in the middle', block('AA==AAAA'), undecodable],
    ['letters that base64 has not', block('ÄAAA'), undecodable],
    ['a header', block('Proc-Type: 4,ENCRYPTED\n\nAAAA'), undecodable],
    ['zeros', block('AAAA'), malformed],
    ['an empty sequence', block('MAA='), malformed],
  ])('%s', (_name, text, sentence) => {
    expect(refusal(text)).toBe(sentence);
  });

  test('a text longer than 16 KiB, in bytes', () => {
    const sentence = 'The signing request must not be longer than 16 KiB.';
    const pem = request(makeKey('-algorithm', 'ED25519').file);
    expect(isTaken(' '.repeat(16_384 - pem.length) + pem)).toBe(true);
    expect(refusal(' '.repeat(16_385 - pem.length) + pem)).toBe(sentence);
    expect(refusal('许'.repeat(5462) + pem)).toBe(sentence);
    expect(refusal('-----BEGIN '.repeat(2000))).toBe(sentence);
  });

  test('two blocks, and a private key that was pasted along', () => {
    const { file, privateKey } = makeKey('-algorithm', 'ED25519');
    const pem = request(file);
    const sentence = 'The signing request must be a single PEM block.';
    expect(refusal(pem + pem)).toBe(sentence);
    expect(refusal(privateKey.export({ format: 'pem', type: 'pkcs8' }) + pem)).toBe(sentence);
  });

  test('a request that is truncated or too long', () => {
    const der = toDer(request(makeKey(...curve('P-256')).file));
    for (let length = 0; length < der.length; length += 1) {
      expect(isTaken(toRequest(der.subarray(0, length)))).toBe(false);
    }
    expect(refusal(toRequest(Buffer.concat([der, Buffer.alloc(1)])))).toBe(malformed);
    expect(refusal(toRequest(Buffer.concat([der, der])))).toBe(malformed);
  });

  test('200 elements inside each other', () => {
    const nest = (tag: number, inside: Buffer) => {
      let bytes = inside;
      for (let depth = 0; depth < 200; depth += 1) bytes = tlv(tag, bytes);
      return bytes;
    };
    const der = toDer(request(makeKey('-algorithm', 'ED25519').file));
    expect(isTaken(toRequest(nest(0x30, Buffer.alloc(0))))).toBe(false);
    expect(isTaken(toRequest(nest(0x30, der)))).toBe(false);
    expect(isTaken(toRequest(nest(0xa0, der)))).toBe(false);
    const zero = Buffer.from('020100', 'hex');
    const deep = nest(0x30, Buffer.alloc(0));
    expect(isTaken(toRequest(tlv(0x30, tlv(0x30, zero, deep, deep, deep), deep, deep)))).toBe(false);
  });
});

describe('random changes', () => {
  const REPEATABLE = { seed: 20261120 };
  const keys = [[...RSA, 'rsa_keygen_bits:2048'], curve('P-256'), ['-algorithm', 'ED25519']];
  let pems: string[] = [];
  beforeEach(() => {
    pems = keys.map((key) => request(makeKey(...key).file, '-addext', 'subjectAltName=DNS:a'));
  });

  test('in the bytes of a request, it is refused and nothing else breaks', () => {
    const change = fc.record({ at: fc.nat(), remove: fc.nat(3), insert: fc.uint8Array({ maxLength: 3 }) });
    fc.assert(
      fc.property(fc.nat(2), fc.array(change, { minLength: 1, maxLength: 3 }), (which, changes) => {
        const original = toDer(pems[which]!);
        let der = original;
        for (const { at, remove, insert } of changes) {
          const start = at % der.length;
          der = Buffer.concat([der.subarray(0, start), insert, der.subarray(start + remove)]);
        }
        expect(isTaken(toRequest(der))).toBe(der.equals(original));
      }),
      { ...REPEATABLE, numRuns: 3000 },
    );
  });

  test('in each single byte, it is refused', () => {
    for (const pem of pems) {
      const der = toDer(pem);
      for (let at = 0; at < der.length; at += 1) {
        for (const bit of [0x01, 0x20, 0x80]) {
          const changed = Buffer.from(der);
          changed[at] = changed[at]! ^ bit;
          expect(isTaken(toRequest(changed)), `bit ${bit} of byte ${at}`).toBe(false);
        }
      }
    }
  });

  test('in the text, nothing but a refusal comes of it', () => {
    const piece = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('-----BEGIN ', '-----', '\n', '='),
    );
    fc.assert(
      fc.property(fc.nat(2), fc.nat(), fc.nat(20), piece, (which, at, remove, insert) => {
        const pem = pems[which]!;
        const start = at % pem.length;
        isTaken(pem.slice(0, start) + insert + pem.slice(start + remove));
      }),
      { ...REPEATABLE, numRuns: 2000 },
    );
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => !isTaken(text)));
  });
});
