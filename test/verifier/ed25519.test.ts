// OpenSSL, node:crypto and the portable verifier agree on what is signed and what is not.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyEd25519, type SignatureCheck } from '../../verifier/ed25519.ts';
import { envelopeOf, KEY, licenseFile, nativeVerify, signingKey, twinOf } from './sample-license-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'license-desk-ed25519-'));
  writeFileSync(join(folder, 'private.pem'), KEY.privateKey.export({ format: 'pem', type: 'pkcs8' }));
  writeFileSync(join(folder, 'public.pem'), KEY.publicKeyPem);
});
afterAll(() => rmSync(folder, { recursive: true }));

function openssl(...parameters: string[]): void {
  execFileSync('openssl', ['pkeyutl', ...parameters], { cwd: folder, stdio: 'ignore' });
}

function opensslSign(message: Uint8Array): Uint8Array {
  writeFileSync(join(folder, 'message'), message);
  openssl('-sign', '-rawin', '-inkey', 'private.pem', '-in', 'message', '-out', 'signature');
  return readFileSync(join(folder, 'signature'));
}

const opensslVerify: SignatureCheck = (message, signature) => {
  writeFileSync(join(folder, 'message'), message);
  writeFileSync(join(folder, 'signature'), signature);
  try {
    openssl('-verify', '-rawin', '-pubin', '-inkey', 'public.pem', '-in', 'message', '-sigfile', 'signature');
    return true;
  } catch {
    return false;
  }
};

const SIGNERS: Record<string, (message: Uint8Array) => Uint8Array> = {
  OpenSSL: opensslSign,
  'node:crypto': KEY.sign,
  tweetnacl: (message) => nacl.sign.detached(message, nacl.sign.keyPair.fromSeed(KEY.seed).secretKey),
};
const VERIFIERS: Record<string, SignatureCheck> = {
  OpenSSL: opensslVerify,
  'node:crypto': nativeVerify,
  'the portable verifier': verifyEd25519,
};
const MESSAGES = [
  Buffer.from('x'),
  Buffer.from(`license/${envelopeOf(licenseFile()).enc}`),
  Buffer.from(Uint8Array.from({ length: 5000 }, (_, at) => at & 255)),
];

const pairs = Object.keys(SIGNERS).flatMap((signer) =>
  Object.keys(VERIFIERS).map((verifier) => [signer, verifier] as const),
);

describe('a signature', () => {
  test.each(pairs)('made by %s is accepted by %s, and nothing near it', (signer, verifier) => {
    for (const message of MESSAGES) {
      const signature = SIGNERS[signer]!(message);
      const accepts = VERIFIERS[verifier]!;
      expect(Buffer.from(signature)).toEqual(Buffer.from(KEY.sign(message)));
      expect(accepts(message, signature, KEY.publicKey)).toBe(true);
      expect(accepts(Buffer.concat([message, Buffer.from('!')]), signature, KEY.publicKey)).toBe(false);
      const altered = Uint8Array.from(signature);
      altered[0]! ^= 1;
      expect(accepts(message, altered, KEY.publicKey)).toBe(false);
      expect(accepts(message, twinOf(signature), KEY.publicKey)).toBe(false);
      expect(accepts(message, signature.slice(1), KEY.publicKey)).toBe(false);
    }
  });

  test('has a twin which tweetnacl alone would accept: why the verifier checks the range itself', () => {
    const message = Buffer.from('x');
    expect(nacl.sign.detached.verify(message, twinOf(KEY.sign(message)), KEY.publicKey)).toBe(true);
  });

  test('of another key is refused', () => {
    const message = Buffer.from('x');
    expect(verifyEd25519(message, signingKey(8).sign(message), KEY.publicKey)).toBe(false);
  });

  test('is verified as in RFC 8032 section 7.1, tests 1 and 2', () => {
    const hex = (text: string) => Buffer.from(text, 'hex');
    const vectors: [publicKey: string, message: string, signature: string][] = [
      [
        'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
        '',
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
      ],
      [
        '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
        '72',
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      ],
    ];
    for (const [publicKey, message, signature] of vectors) {
      expect(verifyEd25519(hex(message), hex(signature), hex(publicKey))).toBe(true);
    }
  });
});
