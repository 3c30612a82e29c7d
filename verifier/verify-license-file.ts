// The offline verifier: checks a license file with only the public key.
import { decodeBase64, decodeJson } from './base64.ts';
import { readDistrustList, type DistrustList } from './distrust-list.ts';
import { verifyEd25519, type SignatureCheck } from './ed25519.ts';
import { type LastSeenStore, readLastSeen } from './last-seen.ts';
import { CannotDecryptError, decryptPayload } from './license-file-decryption.ts';
import {
  parseLicenseFile,
  signedBytes,
  type LicenseFileEnvelope,
  type LicenseFileKind,
} from './license-file-format.ts';
import {
  checkLicenseFilePayload,
  type LeaseInFile,
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
  /** The kind of file to accept; by default both. A file of the other kind has an invalid signature. */
  readonly kind?: LicenseFileKind | undefined;
  /** A faster Ed25519 than the built-in one, such as node:crypto on a server. */
  readonly verifySignature?: SignatureCheck | undefined;
  /** The vendor's current distrust list: files under a key on it are refused. */
  readonly distrustList?: string | undefined;
  /** The lowest sequence number of a distrust list to accept, such as that of the last list seen. */
  readonly minDistrustSequence?: number | undefined;
  /** Detects a clock that was set back by more than 24 hours. Every genuine file moves it forward to `now`. */
  readonly lastSeen?: LastSeenStore | undefined;
}

export interface LicenseFileVerification {
  readonly valid: boolean;
  /** Why the file is refused: the reason of the first rule that failed. */
  readonly reason: VerificationReason | null;
  /** Every rule that could be checked, in order. */
  readonly checks: readonly VerificationCheck[];
  /** As signed, except `state`, which is computed for `now`. Null unless the signature is valid. */
  readonly license: LicenseObject | null;
  readonly machine: { readonly fingerprint: string } | null;
  /** What a lease file proves: a seat until `fileExpiresAt`. Null for a license file. */
  readonly lease: LeaseInFile | null;
  /** Epoch milliseconds. */
  readonly signedAt: number | null;
  /** Epoch milliseconds. */
  readonly fileExpiresAt: number | null;
  /** The signing key that the file claims. */
  readonly keyId: string | null;
  /** The distrust list that was given, to remember its sequence number; null without one. */
  readonly distrustList: DistrustList | null;
}

/** The text is not a license file, so there is nothing to verify. */
export class NotALicenseFileError extends Error {
  override readonly name = 'NotALicenseFileError';
}

/**
 * Verifies a license file (contract section 3). Damaged and forged files are results, not errors. Nothing of a
 * file is returned unless its signature is valid.
 *
 * @throws NotALicenseFileError if the text is not a license file
 * @throws CannotDecryptError if the file is genuine but encrypted, and no license key and fingerprint were given or
 *   WebCrypto is missing
 * @throws DistrustListError if the given distrust list is damaged, forged or outdated
 */
export async function verifyLicenseFile(
  text: string,
  options: VerificationOptions,
): Promise<LicenseFileVerification> {
  const file = parseLicenseFile(text);
  if (file.kind === 'not_a_license_file') throw new NotALicenseFileError(file.problem);
  const { keys, verifySignature = verifyEd25519, minDistrustSequence: minSequence } = options;
  const distrustList =
    options.distrustList === undefined
      ? null
      : readDistrustList(options.distrustList, { keys, verifySignature, minSequence });
  if (file.kind === 'damaged') {
    return refusal({ checks: [failed('signature', file.problem)], keyId: null, distrustList });
  }

  const { envelope } = file;
  const checks: VerificationCheck[] = [];
  const found = { checks, keyId: envelope.kid, distrustList };
  const key = keys.find((candidate) => candidate.keyId === envelope.kid);
  checks.push(...checkKey(envelope.kid, key, distrustList));
  if (!key || checks.some((check) => !check.passed)) return refusal(found);

  const kinds: readonly LicenseFileKind[] =
    options.kind === undefined ? ['license', 'lease'] : [options.kind];
  const kind = kinds.find((each) =>
    verifySignature(signedBytes(envelope.enc, each), envelope.signature, key.publicKey),
  );
  if (kind === undefined) {
    const detail = 'The signature does not match: the file was altered, or signed with another key.';
    checks.push(failed('signature', detail));
    return refusal(found);
  }
  checks.push(passed('signature', 'The signature is valid.'));

  const contents = await readPayload(envelope, kind, options);
  checks.push(...contents.checks);
  if (!contents.payload) return refusal(found);
  const lastSeen = options.lastSeen && (await readLastSeen(options.lastSeen, options.now));
  checks.push(...checkRules(contents.payload, options, lastSeen));
  return conclusion(found, contents.payload, kind, options.now);
}

/** A file signed with a distrusted key is not read: an attacker with the key can write any file, with any date. */
function checkKey(
  kid: string,
  key: VerificationKey | undefined,
  distrustList: DistrustList | null,
): VerificationCheck[] {
  const inputs = { key_id: kid };
  if (!key) return [failed('known_key', `Signed with the key ${kid}, which is not a trusted key.`, inputs)];
  const known = passed('known_key', `The key ${kid} is known.`, inputs);
  const distrustedAt = distrustList?.distrusted.get(kid);
  if (key.distrusted !== true && distrustedAt === undefined)
    return [known, passed('trusted_key', `The key ${kid} is trusted.`, inputs)];
  const since = distrustedAt === undefined ? '' : ` since ${new Date(distrustedAt).toISOString()}`;
  return [known, failed('trusted_key', `The key ${kid} is distrusted${since}.`, inputs)];
}

async function readPayload(
  { alg, enc }: LicenseFileEnvelope,
  kind: LicenseFileKind,
  { licenseKey, fingerprint }: VerificationOptions,
): Promise<{ payload: LicenseFilePayload | null; checks: VerificationCheck[] }> {
  const checks: VerificationCheck[] = [];
  let bytes: Uint8Array | null;
  if (alg === 'aes-256-gcm+ed25519') {
    if (licenseKey === undefined || fingerprint === undefined) {
      throw new CannotDecryptError(
        'The license file is encrypted: the license key and the fingerprint are required.',
      );
    }
    const decrypted = await decryptPayload(enc, { licenseKey, fingerprint: fingerprint.toLowerCase() });
    if (decrypted === 'wrong_key') {
      const detail = 'The file is encrypted for another license key or device.';
      return { payload: null, checks: [failed('decryption', detail)] };
    }
    if (decrypted) checks.push(passed('decryption', 'The license key and the fingerprint decrypt the file.'));
    bytes = decrypted;
  } else {
    bytes = decodeBase64(enc);
  }

  const contents = bytes ? checkLicenseFilePayload(decodeJson(bytes), kind) : { problem: 'its encoding' };
  if ('problem' in contents) {
    const detail = `The signature is valid, but this version cannot read the contents: ${contents.problem}.`;
    return { payload: null, checks: [...checks, failed('contents', detail, { problem: contents.problem })] };
  }
  const { issuer, license } = contents.payload;
  const named = { issuer: issuer.name, holder: license.holder };
  checks.push(passed('contents', `Issued by ${issuer.name} for ${license.holder}.`, named));
  return { payload: contents.payload, checks };
}

type Found = Pick<LicenseFileVerification, 'checks' | 'keyId' | 'distrustList'>;

function conclusion(
  found: Found,
  { meta, license, machine, lease }: LicenseFilePayload,
  kind: LicenseFileKind,
  now: number,
): LicenseFileVerification {
  const reason = firstReason(found.checks);
  return {
    ...found,
    valid: reason === null,
    reason,
    license: { ...license, state: stateAt(license, now) },
    machine,
    lease: kind === 'lease' ? (lease ?? null) : null,
    signedAt: Date.parse(meta.issued),
    fileExpiresAt: Date.parse(meta.expiry),
  };
}

function refusal(found: Found): LicenseFileVerification {
  const nothing = { license: null, machine: null, lease: null, signedAt: null, fileExpiresAt: null };
  return { ...found, valid: false, reason: firstReason(found.checks), ...nothing };
}

function firstReason(checks: readonly VerificationCheck[]): VerificationReason | null {
  const failure = checks.find((check) => !check.passed);
  return failure ? REASON_OF_RULE[failure.rule] : null;
}

/** The state changes with the clock after signing; later activations and revocations are unknown offline. */
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
