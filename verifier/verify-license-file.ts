// The offline verifier: decides with nothing but a public key whether a license file may be relied on.
import { decodeBase64, decodeJson } from './base64.ts';
import { verifyEd25519, type SignatureCheck } from './ed25519.ts';
import { CannotDecryptError, decryptPayload } from './license-file-decryption.ts';
import { parseLicenseFile, signedBytes, type LicenseFileEnvelope } from './license-file-format.ts';
import {
  checkLicenseFilePayload,
  type LicenseFilePayload,
  type LicenseObject,
} from './license-file-payload.ts';
import {
  checkRules,
  REASON_OF_RULE,
  type CheckInputs,
  type Circumstances,
  type VerificationCheck,
  type VerificationReason,
  type VerificationRule,
} from './license-file-rules.ts';
import { termState } from './license-term.ts';
import type { VerificationKey } from './public-key-format.ts';

export interface VerificationOptions extends Circumstances {
  /** The keys to trust, from `parsePublicKeys`. */
  readonly keys: readonly VerificationKey[];
  /** For encrypted files, together with `fingerprint`: the license key in its canonical form. */
  readonly licenseKey?: string | undefined;
  /** A faster Ed25519 than the built-in one, such as node:crypto on a server. */
  readonly verifySignature?: SignatureCheck | undefined;
}

export interface LicenseFileVerification {
  readonly valid: boolean;
  /** Why the file is refused: the reason of the first rule that failed. */
  readonly reason: VerificationReason | null;
  /** Every rule that could be checked, in order. */
  readonly checks: readonly VerificationCheck[];
  /** As signed, but for `state`, which is brought up to `now`. Null while the signature is not proven. */
  readonly license: LicenseObject | null;
  readonly machine: { readonly fingerprint: string } | null;
  /** Epoch milliseconds. */
  readonly signedAt: number | null;
  /** Epoch milliseconds. */
  readonly fileExpiresAt: number | null;
  /** The key the file says it is signed with. */
  readonly keyId: string | null;
}

/** The text is no license file at all, so there is nothing to verify. */
export class NotALicenseFileError extends Error {
  override readonly name = 'NotALicenseFileError';
}

/**
 * Verifies a license file (contract section 3). Damaged and forged files are results, not errors; nothing of a file is
 * returned before its signature is proven.
 *
 * @throws NotALicenseFileError if the text is no license file
 * @throws CannotDecryptError if the file is genuine but encrypted, and no license key and fingerprint were given or
 *   WebCrypto is missing
 */
export async function verifyLicenseFile(
  text: string,
  options: VerificationOptions,
): Promise<LicenseFileVerification> {
  const file = parseLicenseFile(text);
  if (file.kind === 'not_a_license_file') throw new NotALicenseFileError(file.problem);
  if (file.kind === 'damaged') return refusal([failed('signature', file.problem)], null);

  const { envelope } = file;
  const checks: VerificationCheck[] = [];
  const key = options.keys.find((candidate) => candidate.keyId === envelope.kid);
  if (!key) {
    const detail = `Signed with the key ${envelope.kid}, which is not a trusted one.`;
    checks.push(failed('known_key', detail, { key_id: envelope.kid }));
    return refusal(checks, envelope.kid);
  }
  checks.push(passed('known_key', `The key ${envelope.kid} is trusted.`, { key_id: envelope.kid }));

  const verifySignature = options.verifySignature ?? verifyEd25519;
  if (!verifySignature(signedBytes(envelope.enc), envelope.signature, key.publicKey)) {
    checks.push(
      failed('signature', 'The signature does not fit: the file is altered, or another key made it.'),
    );
    return refusal(checks, envelope.kid);
  }
  checks.push(passed('signature', 'The file is exactly as it was signed.'));

  const contents = await readPayload(envelope, options);
  checks.push(...contents.checks);
  if (!contents.payload) return refusal(checks, envelope.kid);
  checks.push(...checkRules(contents.payload, options));
  return conclusion(checks, envelope.kid, contents.payload, options.now);
}

async function readPayload(
  { alg, enc }: LicenseFileEnvelope,
  { licenseKey, fingerprint }: VerificationOptions,
): Promise<{ payload: LicenseFilePayload | null; checks: VerificationCheck[] }> {
  const checks: VerificationCheck[] = [];
  let bytes: Uint8Array | null;
  if (alg === 'aes-256-gcm+ed25519') {
    if (licenseKey === undefined || fingerprint === undefined) {
      throw new CannotDecryptError(
        'The license file is encrypted: give its license key and the fingerprint.',
      );
    }
    const decrypted = await decryptPayload(enc, { licenseKey, fingerprint: fingerprint.toLowerCase() });
    if (decrypted === 'wrong_key') {
      const detail = 'The file is encrypted for another license key or another machine.';
      return { payload: null, checks: [failed('decryption', detail)] };
    }
    if (decrypted) checks.push(passed('decryption', 'The license key and the fingerprint open the file.'));
    bytes = decrypted;
  } else {
    bytes = decodeBase64(enc);
  }

  const contents = bytes ? checkLicenseFilePayload(decodeJson(bytes)) : { problem: 'its encoding' };
  if ('problem' in contents) {
    const detail = `Signed, but no license that this version understands; the trouble is ${contents.problem}.`;
    return { payload: null, checks: [...checks, failed('contents', detail, { problem: contents.problem })] };
  }
  const { issuer, license } = contents.payload;
  const named = { issuer: issuer.name, holder: license.holder };
  checks.push(passed('contents', `Issued by ${issuer.name} for ${license.holder}.`, named));
  return { payload: contents.payload, checks };
}

function conclusion(
  checks: readonly VerificationCheck[],
  keyId: string,
  { meta, license, machine }: LicenseFilePayload,
  now: number,
): LicenseFileVerification {
  const reason = firstReason(checks);
  return {
    valid: reason === null,
    reason,
    checks,
    license: { ...license, state: stateAt(license, now) },
    machine,
    signedAt: Date.parse(meta.issued),
    fileExpiresAt: Date.parse(meta.expiry),
    keyId,
  };
}

function refusal(checks: readonly VerificationCheck[], keyId: string | null): LicenseFileVerification {
  const nothing = { license: null, machine: null, signedAt: null, fileExpiresAt: null };
  return { valid: false, reason: firstReason(checks), checks, ...nothing, keyId };
}

function firstReason(checks: readonly VerificationCheck[]): VerificationReason | null {
  const failure = checks.find((check) => !check.passed);
  return failure ? REASON_OF_RULE[failure.rule] : null;
}

/** The clock moves a license on after its file was signed, but cannot tell of an activation or revocation since. */
function stateAt(license: LicenseObject, now: number): LicenseObject['state'] {
  if (license.state === 'revoked') return 'revoked';
  const state = termState(
    { expiresAt: Date.parse(license.expires_at), graceEndsAt: Date.parse(license.grace_ends_at) },
    now,
  );
  return state === 'active' && license.state === 'issued' ? 'issued' : state;
}

function passed(rule: VerificationRule, detail: string, inputs: CheckInputs = {}): VerificationCheck {
  return { rule, passed: true, detail, inputs };
}

function failed(rule: VerificationRule, detail: string, inputs: CheckInputs = {}): VerificationCheck {
  return { rule, passed: false, detail, inputs };
}
