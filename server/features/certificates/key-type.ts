// Names a key's type from its DER. Electron's BoringSSL cannot load every type that Node's OpenSSL can, and its error
// does not name the type.
import { contentOf, type DerElement, DerError, openElement, readElements, TAG } from './der.ts';
import { certificateFields, VERSION_TAG } from './issuer.ts';

/** Object identifiers, as DER elements in hex (RFC 3279, 2.3; RFC 4055, 1.2; RFC 8410, 3; RFC 9881, 2). */
const TYPES: Readonly<Record<string, string>> = {
  '06092a864886f70d010101': 'RSA',
  '06092a864886f70d01010a': 'RSA-PSS',
  '06072a8648ce380401': 'DSA',
  '06092a864886f70d010301': 'DH',
  '06072a8648ce3e0201': 'DH',
  '06032b656e': 'X25519',
  '06032b656f': 'X448',
  '06032b6570': 'Ed25519',
  '06032b6571': 'Ed448',
  '0609608648016503040311': 'ML-DSA-44',
  '0609608648016503040312': 'ML-DSA-65',
  '0609608648016503040313': 'ML-DSA-87',
};
const EC = '06072a8648ce3d0201';

/** RFC 5480, 2.1.1.1; SEC 2, appendix A.2; RFC 5639, 4.1; GM/T 0006. */
const CURVES: Readonly<Record<string, string>> = {
  '06082a8648ce3d030101': 'P-192',
  '06052b81040021': 'P-224',
  '06082a8648ce3d030107': 'P-256',
  '06052b81040022': 'P-384',
  '06052b81040023': 'P-521',
  '06052b8104000a': 'secp256k1',
  '06092b2403030208010107': 'brainpoolP256r1',
  '06092b240303020801010b': 'brainpoolP384r1',
  '06092b240303020801010d': 'brainpoolP512r1',
  '06082a811ccf5501822d': 'SM2',
};

const PRIVATE_KEY = /-----BEGIN ((?:[A-Z]+ )?PRIVATE KEY)-----([\d\sA-Za-z+/=]+)-----END \1-----/u;
/** Far longer than any identifier in use. Limits the length of the error message. */
const MAX_IDENTIFIER_BYTES = 32;
/** `parameters` in ECPrivateKey (RFC 5915, section 3). */
const EC_PARAMETERS_TAG = 0xa0;

/**
 * @param algorithm AlgorithmIdentifier of a key
 * @returns the type's name in every language, such as `EC P-384`, or its dotted object identifier if it has none here
 * @throws DerError
 */
export function keyType(algorithm: DerElement | undefined): string {
  const [identifier, parameters] = openElement(algorithm, TAG.sequence);
  const hex = toHex(identifier);
  return hex === EC
    ? ecType(parameters)
    : (TYPES[hex] ?? dotted(contentOf(identifier, TAG.objectIdentifier)));
}

/** @throws DerError */
export function certificateKeyType(certificateDer: Buffer): string {
  const fields = certificateFields(certificateDer);
  const key = fields[fields[0]?.tag === VERSION_TAG ? 6 : 5];
  return keyType(openElement(key, TAG.sequence)[0]);
}

/** @returns null if the text has no readable private key, or only an encrypted one */
export function privateKeyType(pem: string): string | null {
  const [, label = '', body = ''] = PRIVATE_KEY.exec(pem) ?? [];
  try {
    const fields = openElement(readElements(Buffer.from(body, 'base64'))[0], TAG.sequence);
    if (label === 'PRIVATE KEY') return keyType(fields[1]);
    if (label === 'RSA PRIVATE KEY') return 'RSA';
    if (label === 'DSA PRIVATE KEY') return 'DSA';
    if (label !== 'EC PRIVATE KEY') return null;
    const parameters = fields.find(({ tag }) => tag === EC_PARAMETERS_TAG);
    return ecType(parameters && openElement(parameters, EC_PARAMETERS_TAG)[0]);
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return null;
  }
}

function ecType(parameters: DerElement | undefined): string {
  // RFC 5480, 2.1.1: a curve that is described and not named.
  if (parameters?.tag !== TAG.objectIdentifier) return 'EC specifiedCurve';
  return `EC ${CURVES[toHex(parameters)] ?? dotted(parameters.content)}`;
}

/** X.690, 8.19: base 128, with the first two arcs combined. */
function dotted(content: Buffer): string {
  if (content.length > MAX_IDENTIFIER_BYTES) return 'an unknown type';
  const numbers: bigint[] = [];
  let number = 0n;
  for (const octet of content) {
    number = (number << 7n) | BigInt(octet & 0x7f);
    if (octet >= 0x80) continue;
    numbers.push(number);
    number = 0n;
  }
  const [first = 0n, ...rest] = numbers;
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...rest].join('.');
}

const toHex = (element: DerElement | undefined) => element?.bytes.toString('hex') ?? '';
