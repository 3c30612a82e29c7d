// The JSON envelope inside the armour of every document that the server signs.
import { formatArmour } from './armour.ts';
import { decodeBase64, decodeBase64Json, encodeBase64 } from './base64.ts';

/** The beginning of base64 of `{"`, which identifies an envelope, even a damaged one. */
export const ENVELOPE_START = 'eyJ';
/** A key ID is untrusted; these characters are safe on a terminal. */
const PRINTABLE_KEY_ID = /^[\x21-\x7e]{1,64}$/;

export interface SignedEnvelope<Algorithm extends string = string> {
  /** The payload, encoded as `alg` says. */
  readonly enc: string;
  /** The 64 bytes of the Ed25519 signature. */
  readonly signature: Uint8Array;
  readonly alg: Algorithm;
  /** The signing key that the document claims. */
  readonly kid: string;
}

/** `-----BEGIN LABEL-----`, base64 of `{enc, sig, alg, kid}`, `-----END LABEL-----`. */
export function formatEnvelope(label: string, { enc, signature, alg, kid }: SignedEnvelope): string {
  const envelope = JSON.stringify({ enc, sig: encodeBase64(signature), alg, kid });
  return formatArmour(label, encodeBase64(new TextEncoder().encode(envelope)));
}

/**
 * Decodes the body of an armoured document without checking its signature.
 *
 * @param algorithms the values that `alg` may have
 * @returns the envelope, or as `problem` a clause such as `it cannot be decoded`
 */
export function parseEnvelope<Algorithm extends string>(
  body: string,
  algorithms: readonly Algorithm[],
): { readonly envelope: SignedEnvelope<Algorithm> } | { readonly problem: string } {
  const envelope = decodeBase64Json(body);
  if (typeof envelope !== 'object' || envelope === null) return { problem: 'it cannot be decoded' };
  const { enc, sig, alg, kid } = envelope as { [name in 'enc' | 'sig' | 'alg' | 'kid']?: unknown };
  if (typeof enc !== 'string' || typeof sig !== 'string') return { problem: 'its envelope is incomplete' };
  if (typeof kid !== 'string' || !PRINTABLE_KEY_ID.test(kid)) return { problem: 'its key id is malformed' };
  const known = algorithms.find((algorithm) => algorithm === alg);
  if (known === undefined) return { problem: 'this version does not support its algorithm' };
  const signature = decodeBase64(sig);
  if (signature?.length !== 64) return { problem: 'its signature is malformed' };
  return { envelope: { enc, signature, alg: known, kid } };
}
