// Signs license files, and checks the ones that come back.
import { CannotDecryptError } from '../../../verifier/license-file-decryption.ts';
import type { VerificationReason } from '../../../verifier/license-file-rules.ts';
import {
  type LicenseFileVerification,
  NotALicenseFileError,
  verifyLicenseFile,
} from '../../../verifier/verify-license-file.ts';
import type { LicenseObject } from '#server/features/licenses/license-contract.ts';
import { toLicenseObject } from '#server/rules/license-presenter.ts';
import type { License } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { ApiError } from '#server/wire/errors.ts';
import { DAY_MS } from '#server/wire/fields.ts';
import { checkEd25519 } from './ed25519.ts';
import { fileEnd, issueLicenseFile } from './license-file-issuer.ts';
import type { SigningKeyInUse } from './loaded-keys.ts';
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
  /** From `activeKey()`. */
  key: SigningKeyInUse;
}

export interface VerificationRequest {
  text: string;
  fingerprint: string | undefined;
  product: string | undefined;
  licenseKey: string | undefined;
  /** What the clock reads, in epoch milliseconds; the present moment unless given. */
  now?: number | undefined;
}

/** Without a last-seen store no clock is found to be set back. */
export interface LicenseFileCheck extends LicenseFileVerification {
  readonly reason: Exclude<VerificationReason, 'clock_rolled_back'> | null;
}

export interface LicenseFiles {
  present(license: License, fingerprint: string | undefined): LicenseObject;
  /** The key that new files are signed with. */
  activeKey(): Promise<SigningKeyInUse>;
  issue(order: FileOrder): string;
  /** The same, with its end in epoch milliseconds. */
  issueUntil(order: FileOrder): { text: string; expiresAt: number };
  /** @throws ApiError `invalid_request` if the text is no license file, or an encrypted one without what opens it */
  verify(request: VerificationRequest): Promise<LicenseFileCheck>;
}

interface Needs {
  signer: Signer;
  clock: Clock;
}

export function createLicenseFiles({ signer, clock }: Needs): LicenseFiles {
  function issueUntil({ license, fingerprint, ttlDays, encrypt, key }: FileOrder) {
    const now = clock.now();
    const ttlMs = ttlDays === null ? null : ttlDays * DAY_MS;
    const text = issueLicenseFile({
      license: toLicenseObject(license, now, fingerprint ?? undefined),
      machine: fingerprint === null ? null : { fingerprint },
      issuedAt: now,
      ttlMs,
      issuer: ISSUER,
      sign: key.sign,
      keyId: key.keyId,
      encryptFor:
        encrypt && fingerprint !== null ? { licenseKey: license.licenseKey, fingerprint } : undefined,
    });
    return { text, expiresAt: fileEnd(license.graceEndsAt, now, ttlMs) };
  }

  return {
    present: (license, fingerprint) => toLicenseObject(license, clock.now(), fingerprint),
    activeKey: signer.activeKey,
    issue: (order) => issueUntil(order).text,
    issueUntil,

    async verify({ text, fingerprint, product, licenseKey, now = clock.now() }) {
      try {
        const verification = await verifyLicenseFile(text, {
          keys: await signer.verificationKeys(),
          now,
          fingerprint,
          // The fingerprint is optional to callers of the API (contract, section 3).
          anyMachine: fingerprint === undefined,
          product,
          licenseKey,
          verifySignature: checkEd25519,
        });
        return verification as LicenseFileCheck;
      } catch (error) {
        if (error instanceof NotALicenseFileError || error instanceof CannotDecryptError) {
          throw new ApiError('invalid_request', `license_file: ${error.message}`);
        }
        throw error;
      }
    },
  };
}
