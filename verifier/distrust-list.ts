// The signed list of leaked signing keys: license files signed with them are refused.
import { parseArmour } from './armour.ts';
import { decodeBase64Json } from './base64.ts';
import type { SignatureCheck } from './ed25519.ts';
import { isTimestamp } from './license-file-payload.ts';
import type { VerificationKey } from './public-key-format.ts';
import { formatEnvelope, parseEnvelope } from './signed-envelope.ts';

const LABEL = 'DISTRUST LIST';
const ALGORITHM = 'base64+ed25519';
/** An entry takes about 100 bytes, so this is room for thousands of keys. */
const MAX_LENGTH = 1_048_576;

export interface DistrustListPayload {
  readonly meta: {
    readonly issued: string;
    /** Every new list has a higher number, so that an older list can be recognized. */
    readonly sequence: number;
  };
  readonly distrusted: readonly { readonly key_id: string; readonly distrusted_at: string }[];
}

/** The contents of a genuine list. */
export interface DistrustList {
  readonly sequence: number;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
  /** When each key was distrusted, in epoch milliseconds, by key id. */
  readonly distrusted: ReadonlyMap<string, number>;
}

/** The distrust list is damaged, forged or outdated, so license files cannot be checked against it. */
export class DistrustListError extends Error {
  override readonly name = 'DistrustListError';
}

/** The bytes a signature covers; the prefix keeps a list from passing for a license file, and the reverse. */
export function distrustListBytes(enc: string): Uint8Array {
  return new TextEncoder().encode(`distrust/${enc}`);
}

export function formatDistrustList(list: { enc: string; signature: Uint8Array; kid: string }): string {
  return formatEnvelope(LABEL, { ...list, alg: ALGORITHM });
}

export interface DistrustListOptions {
  /** The trusted keys; the list must be signed with one of them that neither they nor the list itself distrusts. */
  readonly keys: readonly VerificationKey[];
  readonly verifySignature: SignatureCheck;
  /** The lowest sequence number to accept, such as that of the last list seen. */
  readonly minSequence?: number | undefined;
}

/**
 * Reads a distrust list and checks its signature.
 *
 * @throws DistrustListError if it is damaged, forged, older than `minSequence`, or signed with a key that is unknown or
 *   distrusted
 */
export function readDistrustList(
  text: string,
  { keys, verifySignature, minSequence = 0 }: DistrustListOptions,
): DistrustList {
  const body = text.length > MAX_LENGTH ? null : parseArmour(LABEL, text);
  if (body === null) throw new DistrustListError('This is not a distrust list.');
  const parsed = parseEnvelope(body, [ALGORITHM]);
  if ('problem' in parsed) throw new DistrustListError(`The distrust list is damaged: ${parsed.problem}.`);
  const { enc, signature, kid } = parsed.envelope;
  const key = keys.find(({ keyId }) => keyId === kid);
  if (!key)
    throw new DistrustListError(`The distrust list is signed with ${kid}, which is not a trusted key.`);
  if (!verifySignature(distrustListBytes(enc), signature, key.publicKey))
    throw new DistrustListError('The signature of the distrust list is wrong.');

  const list = toDistrustList(decodeBase64Json(enc));
  if (key.distrusted === true || list.distrusted.has(kid))
    throw new DistrustListError(`The distrust list is signed with ${kid}, which is itself distrusted.`);
  if (list.sequence < minSequence) {
    throw new DistrustListError(
      `The distrust list has sequence number ${list.sequence}; at least ${minSequence} is required.`,
    );
  }
  return list;
}

function toDistrustList(value: unknown): DistrustList {
  const { meta, distrusted } = (value ?? {}) as {
    meta?: Record<string, unknown> | null;
    distrusted?: unknown;
  };
  const { issued, sequence } = meta ?? {};
  if (!isTimestamp(issued) || !Number.isSafeInteger(sequence) || !Array.isArray(distrusted))
    throw new DistrustListError('This version cannot read the distrust list.');
  const entries = (distrusted as unknown[]).map((entry): [string, number] => {
    const { key_id: keyId, distrusted_at: at } = (entry ?? {}) as Record<string, unknown>;
    if (typeof keyId !== 'string' || !isTimestamp(at))
      throw new DistrustListError('This version cannot read an entry of the distrust list.');
    return [keyId, Date.parse(at)];
  });
  return { sequence: sequence as number, issuedAt: Date.parse(issued), distrusted: new Map(entries) };
}
