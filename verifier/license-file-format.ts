// The outer form of a license file: armour around base64 of a small JSON envelope (contract section 3).
import { decodeBase64, decodeBase64Json, encodeBase64 } from './base64.ts';
import { formatArmour, parseArmour } from './armour.ts';

const LABEL = 'LICENSE FILE';
/** Real files have about 2 KB; more than this is not worth a signature check. */
const MAX_LENGTH = 1_048_576;
/** How base64 of `{"` begins: the mark of an envelope, whole or damaged. */
const ENVELOPE_START = 'eyJ';
/** Anyone can write a key id; this much can be shown on a terminal. */
const PRINTABLE_KEY_ID = /^[\x21-\x7e]{1,64}$/;

/** `base64+ed25519` for a readable payload, `aes-256-gcm+ed25519` for an encrypted one. */
export type LicenseFileAlgorithm = 'base64+ed25519' | 'aes-256-gcm+ed25519';

export interface LicenseFileEnvelope {
  /** Base64 of the payload, or `ciphertext.iv.tag` each in base64. */
  readonly enc: string;
  /** The 64 bytes of the Ed25519 signature over `signedBytes(enc)`. */
  readonly signature: Uint8Array;
  readonly alg: LicenseFileAlgorithm;
  /** The id of the signing key, as the file claims it. */
  readonly kid: string;
}

/**
 * A text in the armour whose content begins like an envelope is a license file, if maybe a damaged one. `problem` is a
 * sentence for people.
 */
export type ParsedLicenseFile =
  | { readonly kind: 'license_file'; readonly envelope: LicenseFileEnvelope }
  | { readonly kind: 'damaged'; readonly problem: string }
  | { readonly kind: 'not_a_license_file'; readonly problem: string };

/** The bytes a signature covers: the text of `enc` behind a prefix that keeps it apart from other signed things. */
export function signedBytes(enc: string): Uint8Array {
  return new TextEncoder().encode(`license/${enc}`);
}

export function formatLicenseFile({ enc, signature, alg, kid }: LicenseFileEnvelope): string {
  const envelope = JSON.stringify({ enc, sig: encodeBase64(signature), alg, kid });
  return formatArmour(LABEL, encodeBase64(new TextEncoder().encode(envelope)));
}

/** Takes a license file apart; checks its form only, no signature. Never throws. */
export function parseLicenseFile(text: string): ParsedLicenseFile {
  if (text.length > MAX_LENGTH) return notALicenseFile('it is too long');
  const body = parseArmour(LABEL, text);
  if (body === null) return notALicenseFile(`it is not framed by BEGIN and END ${LABEL} lines`);
  if (!body.startsWith(ENVELOPE_START)) return notALicenseFile('there is no license inside its frame');

  const envelope = decodeBase64Json(body);
  if (typeof envelope !== 'object' || envelope === null) return damaged('it cannot be decoded');
  const { enc, sig, alg, kid } = envelope as { [name in 'enc' | 'sig' | 'alg' | 'kid']?: unknown };
  if (typeof enc !== 'string' || typeof sig !== 'string') return damaged('its envelope is incomplete');
  if (typeof kid !== 'string' || !PRINTABLE_KEY_ID.test(kid)) return damaged('its key id is malformed');
  if (alg !== 'base64+ed25519' && alg !== 'aes-256-gcm+ed25519') {
    return damaged('its algorithm is not one that this version knows');
  }
  const signature = decodeBase64(sig);
  if (signature?.length !== 64) return damaged('its signature is malformed');
  return { kind: 'license_file', envelope: { enc, signature, alg, kid } };
}

function notALicenseFile(why: string): ParsedLicenseFile {
  return { kind: 'not_a_license_file', problem: `This is not a license file: ${why}.` };
}

function damaged(why: string): ParsedLicenseFile {
  return { kind: 'damaged', problem: `The license file is damaged: ${why}.` };
}
