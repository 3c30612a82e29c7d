// Reads signing requests (PKCS#10, RFC 2986) from clients that keep their private key.
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { contentOf, type DerElement, DerError, openElement, readElements, TAG } from './der.ts';
import { rememberSpki } from './issuer.ts';
import { keyType } from './key-type.ts';

/** A request for an RSA-4096 key has about 2 KB. */
const MAX_BYTES = 16_384;
const BEGIN_LINES = /-----BEGIN [^\n]*-----/gu;
const REQUEST = /-----BEGIN ((?:NEW )?CERTIFICATE REQUEST)-----([\d\sA-Za-z+/=]*)-----END \1-----/u;
const BASE64 = /^[\dA-Za-z+/]+={0,2}$/u;

const RSA_BITS = { min: 2048, max: 4096 } as const;
const RSA_EXPONENT_MIN = 65_537n;

/** Object identifiers of keys and curves, as DER elements in hex (RFC 3279, 2.3.1; RFC 5480, 2.1; RFC 8410, 3). */
const RSA_KEY = '06092a864886f70d010101';
const EC_KEY = '06072a8648ce3d0201';
const ED25519 = '06032b6570';
const CURVES = new Set(['06082a8648ce3d030107', '06052b81040022', '06052b81040023']);
/** First octet of an uncompressed point (RFC 5480, 2.2), which every library accepts. */
const UNCOMPRESSED = 0x04;
const NULL = '0500';
/** id-RSASSA-PSS (RFC 4055, 3.1), which always has parameters. */
const RSA_PSS = '06092a864886f70d01010a';

interface SignatureAlgorithm {
  key: 'rsa' | 'ec' | 'ed25519';
  digest: 'sha256' | 'sha384' | 'sha512' | null;
}

/**
 * By object identifier, as DER element in hex (RFC 4055, 5; RFC 5758, 3.2; RFC 8410, 3). MD5 and SHA-1 are excluded.
 */
const SIGNATURE_ALGORITHMS: Readonly<Record<string, SignatureAlgorithm>> = {
  '06092a864886f70d01010b': { key: 'rsa', digest: 'sha256' },
  '06092a864886f70d01010c': { key: 'rsa', digest: 'sha384' },
  '06092a864886f70d01010d': { key: 'rsa', digest: 'sha512' },
  '06082a8648ce3d040302': { key: 'ec', digest: 'sha256' },
  '06082a8648ce3d040303': { key: 'ec', digest: 'sha384' },
  '06082a8648ce3d040304': { key: 'ec', digest: 'sha512' },
  [ED25519]: { key: 'ed25519', digest: null },
};

/** Why a request is rejected; one sentence for the client. */
export class SigningRequestError extends Error {
  override readonly name = 'SigningRequestError';
}

/**
 * Reads the public key after checking that the sender has the private key. Requested subject and extensions are
 * ignored.
 * @param pem one block, `CERTIFICATE REQUEST` or `NEW CERTIFICATE REQUEST`; other text is ignored
 * @returns RSA of 2048 to 4096 bits, EC on P-256, P-384 or P-521, or Ed25519
 * @throws SigningRequestError
 */
export function readSigningRequest(pem: string): { publicKey: KeyObject } {
  const request = takeApart(decode(pem));
  const publicKey = readKey(request.key);
  checkSignature(request, publicKey);
  return { publicKey };
}

function decode(pem: string): Buffer {
  if (Buffer.byteLength(pem) > MAX_BYTES) refuse('The signing request must not be longer than 16 KiB.');
  const blocks = pem.match(BEGIN_LINES)?.length ?? 0;
  if (blocks > 1) refuse('The signing request must be a single PEM block.');
  if (blocks === 0 || !pem.includes('CERTIFICATE REQUEST-----'))
    refuse('The signing request must contain a PEM certificate request.');
  const base64 = REQUEST.exec(pem)?.[2]?.replaceAll(/\s/gu, '') ?? '';
  if (!BASE64.test(base64) || base64.length % 4 !== 0) {
    refuse('The signing request is damaged: its PEM block cannot be decoded.');
  }
  return Buffer.from(base64, 'base64');
}

interface Request {
  /** The signed part. */
  content: Buffer;
  /** SubjectPublicKeyInfo. */
  key: DerElement;
  /** Object identifier in hex; empty for unexpected parameters, except those of RSA-PSS. */
  algorithm: string;
  signature: Buffer;
}

function takeApart(der: Buffer): Request {
  try {
    const [request, ...more] = readElements(der);
    const [content, algorithm, signature, ...others] = openElement(request, TAG.sequence);
    const [version, subject, key] = openElement(content, TAG.sequence);
    contentOf(subject, TAG.sequence);
    contentOf(key, TAG.sequence);
    if (!content || !key || more.length > 0 || others.length > 0)
      throw new DerError('not this many elements');
    if (!contentOf(version, TAG.integer).equals(Buffer.alloc(1))) throw new DerError('not version 1');
    return { content: content.bytes, key, algorithm: readAlgorithm(algorithm), signature: bitsOf(signature) };
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return refuse('The signing request is damaged: it is not in the form of PKCS#10.');
  }
}

/**
 * RSA has NULL parameters or none (RFC 4055, section 2.1); the others have none. RSA-PSS has others. It
 * passes here, so that its own message can refuse it.
 */
function readAlgorithm(element: DerElement | undefined): string {
  const [objectIdentifier, parameters] = openElement(element, TAG.sequence);
  contentOf(objectIdentifier, TAG.objectIdentifier);
  const name = toHex(objectIdentifier);
  const isPlain = parameters === undefined || toHex(parameters) === NULL;
  return isPlain || name === RSA_PSS ? name : '';
}

/** The octets of a BIT STRING that must not have unused bits. */
function bitsOf(element: DerElement | undefined): Buffer {
  const content = contentOf(element, TAG.bitString);
  if (content[0] !== 0) throw new DerError('a bit string ends within an octet');
  return content.subarray(1);
}

function readKey(element: DerElement): KeyObject {
  const kind = checkKind(element);
  const key = parseKey(element.bytes);
  if (kind === RSA_KEY) checkRsaKey(key);
  if (isPlainP256(element.bytes)) rememberSpki(key, element.bytes);
  return key;
}

/** @returns object identifier of the key type, in hex */
function checkKind(element: DerElement): string {
  let kind = '';
  let curve = '';
  let form: number | undefined;
  let type = '';
  try {
    const [algorithm, bits] = openElement(element, TAG.sequence);
    const [objectIdentifier, parameters] = openElement(algorithm, TAG.sequence);
    kind = toHex(objectIdentifier);
    curve = toHex(parameters);
    form = bitsOf(bits)[0];
    type = keyType(algorithm);
  } catch {
    refuse('The public key in the signing request cannot be read.');
  }
  if (kind !== RSA_KEY && kind !== EC_KEY && kind !== ED25519) {
    refuse(`The key in the signing request must be RSA, EC or Ed25519 (got ${type}).`);
  }
  if (kind === EC_KEY && !CURVES.has(curve))
    refuse(`An EC key must be on P-256, P-384 or P-521 (got ${type}).`);
  if (kind === EC_KEY && form !== UNCOMPRESSED) refuse('The point of an EC key must not be compressed.');
  return kind;
}

/** Everything but the point is the same in all P-256 keys, so no other encoding can hide in it. */
const P256_HEADER = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex');
const P256_BYTES = 91;

function isPlainP256(spki: Buffer): boolean {
  return spki.length === P256_BYTES && spki.subarray(0, P256_HEADER.length).equals(P256_HEADER);
}

function parseKey(spki: Buffer): KeyObject {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    return refuse('The public key in the signing request cannot be read.');
  }
}

function checkRsaKey(key: KeyObject): void {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < RSA_BITS.min || modulusLength > RSA_BITS.max) {
    refuse(`An RSA key must have ${RSA_BITS.min} to ${RSA_BITS.max} bits.`);
  }
  if (publicExponent < RSA_EXPONENT_MIN || publicExponent % 2n === 0n) {
    refuse(`The exponent of an RSA key must be odd and at least ${RSA_EXPONENT_MIN}.`);
  }
}

function checkSignature({ content, algorithm, signature }: Request, publicKey: KeyObject): void {
  if (algorithm === RSA_PSS)
    refuse('The signing request must be signed with PKCS #1 v1.5, not RSA-PSS, if its key is RSA.');
  const known = SIGNATURE_ALGORITHMS[algorithm];
  if (!known) refuse('The signing request must be signed with SHA-256, SHA-384, SHA-512 or Ed25519.');
  if (known.key !== publicKey.asymmetricKeyType || !isSigned(content, known.digest, signature, publicKey)) {
    refuse('The signature of the signing request does not match its key.');
  }
}

function isSigned(content: Buffer, digest: string | null, signature: Buffer, publicKey: KeyObject): boolean {
  try {
    return verify(digest, content, publicKey, signature);
  } catch {
    return false;
  }
}

function toHex(element: DerElement | undefined): string {
  return element?.bytes.toString('hex') ?? '';
}

function refuse(reason: string): never {
  throw new SigningRequestError(reason);
}
