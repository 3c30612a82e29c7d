// The outer form of a license file: armour around base64 of a small JSON envelope (contract section 3).
import { frameProblem, parseArmour } from './armour.ts';
import { ENVELOPE_START, formatEnvelope, parseEnvelope, type SignedEnvelope } from './signed-envelope.ts';

const LABEL = 'LICENSE FILE';
/** Real files have about 2 KB. Longer text is refused before the signature check. */
const MAX_LENGTH = 1_048_576;
const ALGORITHMS = ['base64+ed25519', 'aes-256-gcm+ed25519'] as const;

/** `base64+ed25519` for a readable payload, `aes-256-gcm+ed25519` for an encrypted one. */
export type LicenseFileAlgorithm = (typeof ALGORITHMS)[number];

/** `enc` is base64 of the payload, or `ciphertext.iv.tag` each in base64; the signature is over `signedBytes(enc)`. */
export type LicenseFileEnvelope = SignedEnvelope<LicenseFileAlgorithm>;

/**
 * Armoured text that begins like an envelope counts as a license file, possibly a damaged one. `problem` is a sentence
 * for people.
 */
export type ParsedLicenseFile =
  | { readonly kind: 'license_file'; readonly envelope: LicenseFileEnvelope }
  | { readonly kind: 'damaged'; readonly problem: string }
  | { readonly kind: 'not_a_license_file'; readonly problem: string };

/** A license file is valid for as long as its license is; a lease file only while its lease holds a seat. */
export type LicenseFileKind = 'license' | 'lease';

/** The signed bytes: `enc` after a prefix that distinguishes the kinds of signed documents. */
export function signedBytes(enc: string, kind: LicenseFileKind = 'license'): Uint8Array {
  return new TextEncoder().encode(`${kind}/${enc}`);
}

export function formatLicenseFile(envelope: LicenseFileEnvelope): string {
  return formatEnvelope(LABEL, envelope);
}

/** Parses a license file without checking its signature. Never throws. */
export function parseLicenseFile(text: string): ParsedLicenseFile {
  if (text.length > MAX_LENGTH) return notALicenseFile('it is too long');
  const body = parseArmour(LABEL, text);
  if (body === null)
    return notALicenseFile(frameProblem(LABEL, text) ?? `it has no BEGIN and END ${LABEL} lines`);
  if (!body.startsWith(ENVELOPE_START)) return notALicenseFile('its content is not a license');
  const parsed = parseEnvelope(body, ALGORITHMS);
  if ('problem' in parsed)
    return { kind: 'damaged', problem: `The license file is damaged: ${parsed.problem}.` };
  return { kind: 'license_file', envelope: parsed.envelope };
}

function notALicenseFile(why: string): ParsedLicenseFile {
  return { kind: 'not_a_license_file', problem: `This is not a license file: ${why}.` };
}
