// A license, a signing key and the files made of them, fixed so that failures repeat.
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { issueLicenseFile, type LicenseFileOrder } from '#server/features/signing/license-file-issuer.ts';
import type { SignatureCheck } from '../../verifier/ed25519.ts';
import type { LicenseObject } from '../../verifier/license-file-payload.ts';
import { parsePublicKeys, type VerificationKey } from '../../verifier/public-key-format.ts';

export const DAY_MS = 86_400_000;
export const ISSUED_AT = Date.UTC(2026, 0, 15, 12);
export const FINGERPRINT = `sha256:${'0123456789abcdef'.repeat(4)}`;
export const OTHER_FINGERPRINT = `sha256:${'f'.repeat(64)}`;

/** RFC 8410 section 7: a PKCS#8 Ed25519 key is this prefix and the seed, an SPKI the other prefix and the key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export interface SigningKey extends VerificationKey {
  readonly seed: Uint8Array;
  readonly privateKey: KeyObject;
  readonly publicKeyPem: string;
  sign(bytes: Uint8Array): Uint8Array;
}

export function signingKey(fill: number): SigningKey {
  const seed = Buffer.alloc(32, fill);
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKeyPem = createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }).toString();
  const [key] = parsePublicKeys(publicKeyPem);
  return { ...key!, seed, privateKey, publicKeyPem, sign: (bytes) => sign(null, bytes, privateKey) };
}

/** Ed25519 by node:crypto: the second opinion, and a hundred times faster. */
export const nativeVerify: SignatureCheck = (message, signature, publicKey) => {
  const der = Buffer.concat([SPKI_PREFIX, publicKey]);
  return verify(null, message, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
};

export const KEY = signingKey(7);

export const LICENSE: LicenseObject = {
  license_id: 42,
  license_key: '7K3QX-9M2TC-0AB1D-4EFGH-JKMNP',
  holder: 'Žofie Nováková – Forensics 株式会社',
  product: 'my-product',
  plan: 'standard',
  machine_fingerprint: FINGERPRINT,
  issued_at: new Date(ISSUED_AT).toISOString(),
  expires_at: new Date(ISSUED_AT + 365 * DAY_MS).toISOString(),
  state: 'active',
  grace_ends_at: new Date(ISSUED_AT + 379 * DAY_MS).toISOString(),
  max_activations: 1,
  activation_count: 1,
  features: ['export', 'reports'],
};

export function licenseFile(changes: Partial<LicenseFileOrder> = {}): string {
  return issueLicenseFile({
    license: LICENSE,
    machine: { fingerprint: FINGERPRINT },
    issuedAt: ISSUED_AT,
    ttlMs: 90 * DAY_MS,
    issuer: 'Example Software',
    sign: KEY.sign,
    keyId: KEY.keyId,
    ...changes,
  });
}

/**
 * The same Ed25519 signature with its scalar raised by the group order: the equation still holds, but RFC 8032 section
 * 5.1.7 forbids the spelling.
 */
export function twinOf(signature: Uint8Array): Uint8Array {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const scalar = BigInt(`0x${Buffer.from(signature.slice(32).toReversed()).toString('hex')}`) + order;
  const raised = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').toReversed();
  return Buffer.concat([signature.slice(0, 32), raised]);
}

/** The envelope inside a license file's armour. */
export function envelopeOf(file: string): { enc: string; sig: string; alg: string; kid: string } {
  const body = file.split('\n').filter((line) => !line.startsWith('-----'));
  return JSON.parse(Buffer.from(body.join(''), 'base64').toString('utf8')) as ReturnType<typeof envelopeOf>;
}

/** A license file around any envelope, well-formed or not. */
export function fileOf(envelope: unknown): string {
  const body = Buffer.from(JSON.stringify(envelope), 'utf8').toString('base64');
  return `-----BEGIN LICENSE FILE-----\n${body}\n-----END LICENSE FILE-----\n`;
}

/** A well-signed license file around any payload. */
export function signedFileOf(payload: unknown): string {
  const enc = Buffer.from(JSON.stringify(payload), 'utf8').toString('base64');
  const sig = Buffer.from(KEY.sign(Buffer.from(`license/${enc}`))).toString('base64');
  return fileOf({ enc, sig, alg: 'base64+ed25519', kid: KEY.keyId });
}
