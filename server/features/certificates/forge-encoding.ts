// The only uses of node-forge: writing names and certificate extensions. It never parses input.
import { randomBytes } from 'node:crypto';
import forge from 'node-forge';
import type { SubjectNames } from './distinguished-name.ts';

declare module 'node-forge' {
  namespace pki {
    /** Missing in the package's types. Takes the result of `setExtensions`; returns the whole `[3]` element. */
    function certificateExtensionsToAsn1(extensions: readonly object[]): asn1.Asn1;
  }
}

/** Object identifiers of attributes (RFC 5280, appendix A.1). */
const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const EMAIL_ADDRESS = '1.2.840.113549.1.9.1';

/** The types declare a class where the library expects a string type. */
const UTF8_STRING: number = forge.asn1.Type.UTF8;
const IA5_STRING: number = forge.asn1.Type.IA5STRING;

/** GeneralName tags (RFC 5280, 4.2.1.6). */
const GENERAL_NAME = { email: 1, dns: 2, uri: 6, ip: 7 } as const;

/** ASCII text, or bytes in network order for `ip`. */
export type GeneralName =
  | { kind: 'email' | 'dns' | 'uri'; value: string }
  | { kind: 'ip'; value: readonly number[] };

/** The extensions of a certificate. Absent ones are omitted. */
export interface Extensions {
  /** With path length 0: it issues certificates, but no subordinate authorities. */
  authority: boolean;
  keyUsage: readonly ('digitalSignature' | 'keyEncipherment' | 'keyCertSign' | 'cRLSign')[];
  extendedKeyUsage?: 'clientAuth' | 'serverAuth';
  subjectKeyIdentifier: Buffer;
  authorityKeyIdentifier: Buffer;
  alternativeNames?: readonly GeneralName[];
  /** ASCII. */
  crlUrl?: string;
}

/**
 * Encodes a Name, organization first: RFC 4514 reads it from the end, so it starts with the common name. All values are
 * UTF8String except the email address, which is IA5String (RFC 5280, 4.1.2.4 and 4.1.2.6).
 * @returns DER
 * @throws RangeError if the email address is not ASCII; URIError if a name contains half a surrogate pair
 */
export function encodeSubject({ commonName, organization, email }: SubjectNames): Buffer {
  const attributes: forge.pki.CertificateField[] = [];
  if (organization !== undefined) {
    attributes.push({ type: ORGANIZATION, valueTagClass: UTF8_STRING, value: organization });
  }
  if (email !== undefined) {
    attributes.push({ type: EMAIL_ADDRESS, valueTagClass: IA5_STRING, value: ascii(email) });
  }
  attributes.push({ type: COMMON_NAME, valueTagClass: UTF8_STRING, value: commonName });
  return toBuffer(forge.pki.distinguishedNameToAsn1({ attributes }));
}

/** The extensions that were encoded last, except the identifier of the key, which alone differs between clients. */
let known: { name: string; before: Buffer; after: Buffer } | undefined;

/**
 * Key usage and basic constraints are critical (RFC 5280, 4.2.1.3 and 4.2.1.9); all others are not.
 * @returns DER of the `[3]` element of a TBSCertificate
 * @throws RangeError if a text is not ASCII
 */
export function encodeExtensions({ subjectKeyIdentifier, ...order }: Extensions): Buffer {
  const name = JSON.stringify([
    { ...order, authorityKeyIdentifier: order.authorityKeyIdentifier.toString('hex') },
    subjectKeyIdentifier.length,
  ]);
  if (known?.name !== name) {
    // Occurs nowhere else in the result.
    const placeholder = randomBytes(subjectKeyIdentifier.length);
    const encoded = encodeAnew({ ...order, subjectKeyIdentifier: placeholder });
    const start = encoded.indexOf(placeholder);
    known = { name, before: encoded.subarray(0, start), after: encoded.subarray(start + placeholder.length) };
  }
  return Buffer.concat([known.before, subjectKeyIdentifier, known.after]);
}

function encodeAnew(order: Extensions): Buffer {
  const { authority, extendedKeyUsage, alternativeNames, crlUrl } = order;
  const usages = Object.fromEntries(order.keyUsage.map((usage) => [usage, true]));
  const extensions: object[] = [
    { name: 'basicConstraints', critical: true, ...(authority ? { cA: true, pathLenConstraint: 0 } : {}) },
    { name: 'keyUsage', critical: true, ...usages },
  ];
  if (extendedKeyUsage !== undefined) extensions.push({ name: 'extKeyUsage', [extendedKeyUsage]: true });
  // The library would compute the identifier, but only for RSA keys.
  const identifier = forge.asn1.create(
    forge.asn1.Class.UNIVERSAL,
    forge.asn1.Type.OCTETSTRING,
    false,
    order.subjectKeyIdentifier.toString('latin1'),
  );
  extensions.push(
    { name: 'subjectKeyIdentifier', value: identifier },
    { name: 'authorityKeyIdentifier', keyIdentifier: order.authorityKeyIdentifier.toString('latin1') },
  );
  if (alternativeNames !== undefined) {
    extensions.push({ name: 'subjectAltName', altNames: alternativeNames.map(toAltName) });
  }
  if (crlUrl !== undefined) {
    extensions.push({ name: 'cRLDistributionPoints', altNames: [toAltName({ kind: 'uri', value: crlUrl })] });
  }
  const template = forge.pki.createCertificate();
  template.setExtensions(extensions);
  return toBuffer(forge.pki.certificateExtensionsToAsn1(template.extensions));
}

function toAltName(name: GeneralName): object {
  const value = name.kind === 'ip' ? String.fromCharCode(...name.value) : ascii(name.value);
  return { type: GENERAL_NAME[name.kind], value };
}

/** The library writes one octet per character, which is wrong for characters beyond Latin-1. */
function ascii(value: string): string {
  if (!/^[\x20-\x7e]+$/u.test(value)) throw new RangeError(`${JSON.stringify(value)} is not ASCII`);
  return value;
}

function toBuffer(element: forge.asn1.Asn1): Buffer {
  return Buffer.from(forge.asn1.toDer(element).getBytes(), 'latin1');
}
