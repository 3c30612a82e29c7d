// Parses the public keys that a verifier trusts, in any supported form.
import nacl from 'tweetnacl';
import { decodeBase64 } from './base64.ts';
import { keyId } from './key-id.ts';
import { parseArmour } from './armour.ts';

/** A trusted Ed25519 key: 32 raw bytes and the name that license files use for it. */
export interface VerificationKey {
  readonly keyId: string;
  readonly publicKey: Uint8Array;
  /** The key leaked: files signed with it are refused. */
  readonly distrusted?: boolean | undefined;
}

/** The text is not a usable Ed25519 public key; the message says why. */
export class PublicKeyFormatError extends Error {
  override readonly name = 'PublicKeyFormatError';
}

/** What precedes the 32 key bytes in a SubjectPublicKeyInfo for Ed25519 (RFC 8410 section 4). */
const SPKI_PREFIX = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);

/**
 * Reads public keys from base64 of 32 bytes, from an SPKI PEM, or from the reply of `GET /public-key/`, whose `keys`
 * include retired ones: these sign nothing new, but files they signed stay good. Keys with the status `distrusted` are
 * kept and marked, so that a file under one of them is refused with its own reason.
 *
 * @throws PublicKeyFormatError
 */
export function parsePublicKeys(text: string): VerificationKey[] {
  const trimmed = text.trim();
  if (trimmed === '') throw new PublicKeyFormatError('The public key is empty.');
  if (trimmed.startsWith('{')) return fromReply(trimmed);
  return [trimmed.startsWith('-----') ? fromPem(trimmed) : fromBase64(trimmed)];
}

function fromPem(text: string): VerificationKey {
  const body = parseArmour('PUBLIC KEY', text);
  if (body === null) throw new PublicKeyFormatError('The PEM text is not exactly one PUBLIC KEY.');
  const der = decodeBase64(body);
  if (der === null) throw new PublicKeyFormatError('The PEM text is not valid base64.');
  if (
    der.length !== SPKI_PREFIX.length + nacl.sign.publicKeyLength ||
    !SPKI_PREFIX.every((byte, at) => der[at] === byte)
  ) {
    throw new PublicKeyFormatError('The PEM text is not an Ed25519 public key.');
  }
  return fromBytes(der.subarray(SPKI_PREFIX.length));
}

function fromBase64(text: string): VerificationKey {
  const bytes = decodeBase64(text);
  if (bytes === null) throw new PublicKeyFormatError('The public key is not valid base64.');
  return fromBytes(bytes);
}

function fromReply(text: string): VerificationKey[] {
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    throw new PublicKeyFormatError('The public key file is not valid JSON.');
  }
  const { public_key: current, keys = [] } = reply as { public_key?: unknown; keys?: unknown };
  if (!Array.isArray(keys)) throw new PublicKeyFormatError('`keys` is not a list.');
  const found = new Map<string, VerificationKey>();
  if (current !== undefined) add(found, fromEntry({ public_key: current }));
  for (const entry of keys as unknown[]) add(found, fromEntry(entry));
  if (found.size === 0) throw new PublicKeyFormatError('The JSON has neither `public_key` nor `keys`.');
  return [...found.values()];
}

function fromEntry(entry: unknown): VerificationKey {
  const { public_key: text, key_id: name, status } = (entry ?? {}) as Record<string, unknown>;
  if (typeof text !== 'string') throw new PublicKeyFormatError('A `public_key` is not text.');
  const key = fromBase64(text);
  if (name !== undefined && name !== key.keyId) {
    throw new PublicKeyFormatError(
      `\`key_id\` ${JSON.stringify(name)} does not belong to its key, ${key.keyId}.`,
    );
  }
  return status === 'distrusted' ? { ...key, distrusted: true } : key;
}

function fromBytes(publicKey: Uint8Array): VerificationKey {
  if (publicKey.length !== nacl.sign.publicKeyLength) {
    throw new PublicKeyFormatError(`An Ed25519 public key has 32 bytes; this one has ${publicKey.length}.`);
  }
  return { keyId: keyId(publicKey), publicKey };
}

function add(found: Map<string, VerificationKey>, key: VerificationKey): void {
  found.set(key.keyId, key);
}
