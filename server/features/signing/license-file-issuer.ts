// Builds license files (contract section 3). Pure except for random bytes; the caller owns the key.
import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { formatLicenseFile, signedBytes } from '../../../verifier/license-file-format.ts';
import type {
  LeaseInFile,
  LicenseFilePayload,
  LicenseObject,
} from '../../../verifier/license-file-payload.ts';

/** The standard length of a GCM nonce (NIST SP 800-38D section 5.2.1.1). */
const IV_LENGTH = 12;

export interface LicenseFileOrder {
  readonly license: LicenseObject;
  /** Makes it a lease file. */
  readonly lease?: LeaseInFile | undefined;
  /** The device that the file is bound to; null for any. */
  readonly machine: { readonly fingerprint: string } | null;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
  /** Time to live in milliseconds; null for as long as the license is valid. */
  readonly ttlMs: number | null;
  /** Display name of the issuer. */
  readonly issuer: string;
  /** Ed25519 with the private key that `keyId` names. */
  readonly sign: (bytes: Uint8Array) => Uint8Array;
  readonly keyId: string;
  /** Encrypts the file so that opening it takes both license key and fingerprint. */
  readonly encryptFor?: { readonly licenseKey: string; readonly fingerprint: string } | undefined;
}

/** The earlier of time to live and end of the grace period; all in milliseconds. */
export function fileEnd(graceEndsAt: number, issuedAt: number, ttlMs: number | null): number {
  return Math.min(graceEndsAt, issuedAt + (ttlMs ?? Infinity));
}

/** Returns the text of a signed license file. */
export function issueLicenseFile(order: LicenseFileOrder): string {
  const { license, lease, machine, issuedAt, ttlMs, issuer, keyId, encryptFor } = order;
  const expiresAt = fileEnd(Date.parse(license.grace_ends_at), issuedAt, ttlMs);
  const payload: LicenseFilePayload = {
    meta: {
      issued: new Date(issuedAt).toISOString(),
      expiry: new Date(expiresAt).toISOString(),
      ttl: ttlMs === null ? null : Math.floor(ttlMs / 1000),
    },
    license,
    ...(lease ? { lease } : {}),
    machine,
    issuer: { name: issuer, key_id: keyId },
  };
  const bytes = Buffer.from(JSON.stringify(payload), 'utf8');
  const enc = encryptFor ? encrypt(bytes, encryptFor) : bytes.toString('base64');
  return formatLicenseFile({
    enc,
    signature: order.sign(signedBytes(enc, lease ? 'lease' : 'license')),
    alg: encryptFor ? 'aes-256-gcm+ed25519' : 'base64+ed25519',
    kid: keyId,
  });
}

/** `ciphertext.iv.tag`, each in base64, under SHA-256 of license key + fingerprint. */
function encrypt(
  bytes: Buffer,
  { licenseKey, fingerprint }: NonNullable<LicenseFileOrder['encryptFor']>,
): string {
  const key = createHash('sha256')
    .update(licenseKey + fingerprint, 'utf8')
    .digest();
  const iv = randomBytes(IV_LENGTH);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return [ciphertext, iv, cipher.getAuthTag()].map((part) => part.toString('base64')).join('.');
}
