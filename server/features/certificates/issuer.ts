// Reads what a certificate needs from its issuer's certificate and key.
import { createHash, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { contentOf, type DerElement, DerError, openElement, readElements, TAG } from './der.ts';

const SERIAL_BYTES = 16;
/** Object identifiers, as DER elements. */
const SUBJECT_KEY_IDENTIFIER = Buffer.from('0603551d0e', 'hex');
const KEY_USAGE = Buffer.from('0603551d0f', 'hex');
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex');
const NAME_CONSTRAINTS = Buffer.from('0603551d1e', 'hex');
/** Bits of the first octet of KeyUsage (RFC 5280, 4.2.1.3). */
const KEY_CERT_SIGN = 0x04;
const CRL_SIGN = 0x02;
/** `version` and `extensions` in TBSCertificate. */
export const VERSION_TAG = 0xa0;
const EXTENSIONS_TAG = 0xa3;
/** The lists of NameConstraints. */
const PERMITTED_TAG = 0xa0;
const EXCLUDED_TAG = 0xa1;

export interface Issuer {
  /** DER of the subject, byte for byte as in the certificate. */
  subject: Buffer;
  /** Content of its SubjectKeyIdentifier. */
  keyIdentifier: Buffer;
  /** RSA or on P-256. */
  privateKey: KeyObject;
}

/** 16 random bytes: positive as a number and without leading zeros, so that the hex form has a fixed length. */
export function newSerial(): Buffer {
  const serial = randomBytes(SERIAL_BYTES);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

/** 20 bytes: SHA-1 of the key's bits (RFC 5280, 4.2.1.2, method 1). */
export function keyIdentifier(publicKey: KeyObject): Buffer {
  const [, bits] = openElement(readElements(toSpki(publicKey))[0], TAG.sequence);
  // The first octet is the number of unused bits.
  return createHash('sha1').update(contentOf(bits, TAG.bitString).subarray(1)).digest();
}

/** DER of the SubjectPublicKeyInfo. A private key is converted to its public key. */
export function toSpki(key: KeyObject): Buffer {
  const known = encoded.get(key);
  if (known) return known;
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  encoded.set(key, spki);
  return spki;
}

/** A certificate contains its key in three places. */
const encoded = new WeakMap<KeyObject, Buffer>();

/** Encoding a key takes as long as signing with P-256. @param spki what an export of the public key would return */
export function rememberSpki(publicKey: KeyObject, spki: Buffer): void {
  encoded.set(publicKey, spki);
}

/** Reads only the outer structure; the caller must know that it is a certificate. */
export function certificateFields(certificateDer: Buffer): DerElement[] {
  const [content] = openElement(readElements(certificateDer)[0], TAG.sequence);
  return openElement(content, TAG.sequence);
}

/** @returns the content of its OCTET STRING as elements; null if the extension is missing */
function readExtension(fields: readonly DerElement[], objectIdentifier: Buffer): DerElement | null {
  const list = fields.find(({ tag }) => tag === EXTENSIONS_TAG);
  const extensions = list ? openElement(openElement(list, EXTENSIONS_TAG)[0], TAG.sequence) : [];
  const found = extensions
    .map((extension) => openElement(extension, TAG.sequence))
    .find(([identifier]) => identifier?.bytes.equals(objectIdentifier));
  return found ? (openElement(found.at(-1), TAG.octetString)[0] ?? null) : null;
}

/**
 * Reads the fields of an authority's certificate that its certificates and CRLs copy. The certificate may come from any
 * software.
 * @returns `keyIdentifier` null if the certificate has none
 * @throws DerError
 */
export function readIssuer(certificateDer: Buffer): { subject: Buffer; keyIdentifier: Buffer | null } {
  const fields = certificateFields(certificateDer);
  // Version 1 omits the version field. Then follow serial, algorithm, issuer, validity, subject.
  const subject = fields[fields[0]?.tag === VERSION_TAG ? 5 : 4];
  if (subject?.tag !== TAG.sequence) throw new DerError('a certificate has no subject');
  const identifier = readExtension(fields, SUBJECT_KEY_IDENTIFIER);
  return {
    subject: subject.bytes,
    keyIdentifier: identifier && contentOf(identifier, TAG.octetString),
  };
}

/**
 * Whether an authority may sign certificates and CRLs. Without a key usage extension, it may sign both.
 * @throws DerError
 */
export function maySign(certificateDer: Buffer): boolean {
  const usage = readExtension(certificateFields(certificateDer), KEY_USAGE);
  if (!usage) return true;
  // The first octet is the number of unused bits.
  const bits = contentOf(usage, TAG.bitString)[1] ?? 0;
  return (bits & KEY_CERT_SIGN) !== 0 && (bits & CRL_SIGN) !== 0;
}

/**
 * How many CA certificates an authority allows below it (RFC 5280, 4.2.1.9).
 * @returns null if it sets no limit
 * @throws DerError
 */
export function pathLength(certificateDer: Buffer): number | null {
  const constraints = readExtension(certificateFields(certificateDer), BASIC_CONSTRAINTS);
  const length = constraints && openElement(constraints, TAG.sequence).find(({ tag }) => tag === TAG.integer);
  return length ? Number.parseInt(contentOf(length, TAG.integer).toString('hex'), 16) : null;
}

/** A root of version 1 has no extensions to say that it is an authority. */
export function isVersion1(certificateDer: Buffer): boolean {
  return certificateFields(certificateDer)[0]?.tag !== VERSION_TAG;
}

/** Names that an authority permits or excludes below it, each as a GeneralName (RFC 5280, 4.2.1.10). */
export interface NameConstraints {
  permitted: DerElement[];
  excluded: DerElement[];
}

/** @throws DerError */
export function nameConstraints(certificateDer: Buffer): NameConstraints {
  const extension = readExtension(certificateFields(certificateDer), NAME_CONSTRAINTS);
  const lists = extension ? openElement(extension, TAG.sequence) : [];
  const namesIn = (tag: number) => {
    const list = lists.find((element) => element.tag === tag);
    const subtrees = list ? openElement(list, tag) : [];
    return subtrees.flatMap((subtree) => openElement(subtree, TAG.sequence).slice(0, 1));
  };
  return { permitted: namesIn(PERMITTED_TAG), excluded: namesIn(EXCLUDED_TAG) };
}
