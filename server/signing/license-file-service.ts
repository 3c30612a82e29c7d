// Signs license files, and checks the ones that come back.
import { CannotDecryptError } from '../../verifier/license-file-decryption.ts';
import {
  type LicenseFileVerification,
  NotALicenseFileError,
  verifyLicenseFile,
} from '../../verifier/verify-license-file.ts';
import type { LicenseObject } from '../licenses/license-contract.ts';
import type { License } from '../licenses/license-store.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { DAY_MS } from '../platform/fields.ts';
import { checkEd25519 } from './ed25519.ts';
import { fileEnd, issueLicenseFile } from './license-file-issuer.ts';
import type { Signer } from './signing-service.ts';

const ISSUER = 'License Desk';

export interface FileOrder {
  license: License;
  /** The device that the file is for; null binds it to none. */
  fingerprint: string | null;
  /** Null: good for as long as the license is. */
  ttlDays: number | null;
  /** Only this license key and this device together open the file. */
  encrypt: boolean;
}

export interface VerificationRequest {
  text: string;
  fingerprint: string | undefined;
  product: string | undefined;
  licenseKey: string | undefined;
  /** What the clock reads, in epoch milliseconds; the present moment unless given. */
  now?: number | undefined;
}

export interface LicenseFiles {
  present(license: License, fingerprint: string | undefined): LicenseObject;
  issue(order: FileOrder): string;
  /** The same, with its end in epoch milliseconds. */
  issueUntil(order: FileOrder): { text: string; expiresAt: number };
  /** @throws ApiError `invalid_request` if the text is no license file, or an encrypted one without what opens it */
  verify(request: VerificationRequest): Promise<LicenseFileVerification>;
}

interface Needs {
  signer: Signer;
  clock: Clock;
  present(license: License, now: number, fingerprint?: string): LicenseObject;
}

export function createLicenseFiles({ signer, clock, present }: Needs): LicenseFiles {
  function issueUntil({ license, fingerprint, ttlDays, encrypt }: FileOrder) {
    const now = clock.now();
    const ttlMs = ttlDays === null ? null : ttlDays * DAY_MS;
    const text = issueLicenseFile({
      license: present(license, now, fingerprint ?? undefined),
      machine: fingerprint === null ? null : { fingerprint },
      issuedAt: now,
      ttlMs,
      issuer: ISSUER,
      sign: signer.sign,
      keyId: signer.keyId(),
      encryptFor:
        encrypt && fingerprint !== null ? { licenseKey: license.licenseKey, fingerprint } : undefined,
    });
    return { text, expiresAt: fileEnd(license.graceEndsAt, now, ttlMs) };
  }

  return {
    present: (license, fingerprint) => present(license, clock.now(), fingerprint),

    issue: (order) => issueUntil(order).text,
    issueUntil,

    async verify({ text, fingerprint, product, licenseKey, now = clock.now() }) {
      try {
        return await verifyLicenseFile(text, {
          keys: signer.trustedKeys(),
          now,
          fingerprint,
          product,
          licenseKey,
          verifySignature: checkEd25519,
        });
      } catch (error) {
        if (error instanceof NotALicenseFileError || error instanceof CannotDecryptError) {
          throw new ApiError('invalid_request', `license_file: ${error.message}`);
        }
        throw error;
      }
    },
  };
}
