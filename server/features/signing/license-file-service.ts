// Signs license files and verifies them.
import { CannotDecryptError } from '../../../verifier/license-file-decryption.ts';
import {
  type LicenseFileKind,
  parseLicenseFile,
  signedBytes,
} from '../../../verifier/license-file-format.ts';
import type { LeaseInFile } from '../../../verifier/license-file-payload.ts';
import type { VerificationReason } from '../../../verifier/license-file-rules.ts';
import {
  type LicenseFileVerification,
  NotALicenseFileError,
  verifyLicenseFile,
} from '../../../verifier/verify-license-file.ts';
import type { LicenseObject } from '#server/features/licenses/license-contract.ts';
import { toLicenseObject } from '#server/rules/license-presenter.ts';
import type { License } from '#server/rules/license.ts';
import type { Clock } from '#server/platform/clock.ts';
import { refusedField } from '#server/wire/errors.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { checkEd25519 } from './ed25519.ts';
import { fileEnd, issueLicenseFile } from './license-file-issuer.ts';
import type { SigningKeyInUse } from './loaded-keys.ts';
import type { Signer } from './signing-service.ts';

const ISSUER = 'License Desk';

export interface FileOrder {
  license: License;
  /** The device that the file is bound to; null for any. */
  fingerprint: string | null;
  /** Null: valid for as long as the license is. */
  ttlDays: number | null;
  /** Makes opening the file require both license key and fingerprint. */
  encrypt: boolean;
  /** From `activeKey()`. */
  key: SigningKeyInUse;
}

/** A file for the time of a lease. */
interface LeaseFileOrder extends Omit<FileOrder, 'ttlDays'> {
  lease: LeaseInFile;
  /** The end of the lease in epoch milliseconds. */
  until: number;
}

export interface VerificationRequest {
  text: string;
  /** Default: a license file. */
  kind?: LicenseFileKind;
  fingerprint: string | undefined;
  product: string | undefined;
  licenseKey: string | undefined;
  /** The time of the check in epoch milliseconds. Default: now. */
  now?: number | undefined;
}

/** Does not detect a clock that was set back, because there is no last-seen store. */
export interface LicenseFileCheck extends LicenseFileVerification {
  readonly reason: Exclude<VerificationReason, 'clock_rolled_back'> | null;
}

const LEASE_FILE_PROBLEM =
  'This is a lease file: check it with license-desk verify, or its lease with /leases/heartbeat/.';

export interface LicenseFiles {
  present(license: License, fingerprint: string | undefined): LicenseObject;
  /** The key that signs new files. */
  activeKey(): Promise<SigningKeyInUse>;
  issue(order: FileOrder): string;
  issueLease(order: LeaseFileOrder): string;
  /** The same, plus the file's end in epoch milliseconds. */
  issueUntil(order: FileOrder): { text: string; expiresAt: number };
  /** A sentence for people if the text is a lease file with a valid signature; null otherwise. */
  leaseFileProblem(text: string): Promise<string | null>;
  /**
   * @throws ApiError `invalid_request` if the text is not a license file, or not of this kind, or is encrypted and the key
   *   to open it is missing
   */
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

  async function leaseFileProblem(text: string): Promise<string | null> {
    const file = parseLicenseFile(text);
    if (file.kind !== 'license_file') return null;
    const { enc, signature, kid } = file.envelope;
    const key = (await signer.verificationKeys()).find(({ keyId }) => keyId === kid);
    if (key === undefined || key.distrusted === true) return null;
    return checkEd25519(signedBytes(enc, 'lease'), signature, key.publicKey) ? LEASE_FILE_PROBLEM : null;
  }

  return {
    present: (license, fingerprint) => toLicenseObject(license, clock.now(), fingerprint),
    activeKey: signer.activeKey,
    issue: (order) => issueUntil(order).text,
    issueUntil,
    leaseFileProblem,

    issueLease({ license, lease, fingerprint, until, encrypt, key }) {
      if (encrypt && fingerprint === null)
        throw new Error(`lease ${lease.lease_id} has no device to encrypt for`);
      const now = clock.now();
      return issueLicenseFile({
        license: toLicenseObject(license, now, fingerprint ?? undefined),
        lease,
        machine: fingerprint === null ? null : { fingerprint },
        issuedAt: now,
        ttlMs: Math.max(0, until - now),
        issuer: ISSUER,
        sign: key.sign,
        keyId: key.keyId,
        encryptFor:
          encrypt && fingerprint !== null ? { licenseKey: license.licenseKey, fingerprint } : undefined,
      });
    },

    async verify({ text, kind = 'license', fingerprint, product, licenseKey, now = clock.now() }) {
      try {
        const verification = await verifyLicenseFile(text, {
          kind,
          keys: await signer.verificationKeys(),
          now,
          fingerprint,
          // The fingerprint is optional in the API (contract, section 3).
          anyMachine: fingerprint === undefined,
          product,
          licenseKey,
          verifySignature: checkEd25519,
        });
        // Only its prefix differs: without this, a genuine file would count as forged.
        const isRefused = kind === 'license' && verification.reason === 'signature_invalid';
        const problem = isRefused ? await leaseFileProblem(text) : null;
        if (problem !== null) throw refusedField('license_file', problem);
        return verification as LicenseFileCheck;
      } catch (error) {
        if (error instanceof NotALicenseFileError || error instanceof CannotDecryptError)
          throw refusedField(`${kind}_file`, error.message);
        throw error;
      }
    },
  };
}
