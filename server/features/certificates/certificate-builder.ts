// Builds X.509 certificates (RFC 5280, section 4) for the authority, for clients and for the server.
import type { KeyObject } from 'node:crypto';
import { derInteger, derTime, TAG, tlv } from './der.ts';
import type { SubjectNames } from './distinguished-name.ts';
import { encodeExtensions, encodeSubject, type Extensions, type GeneralName } from './forge-encoding.ts';
import { toHostName } from './host-name.ts';
import { type Issuer, keyIdentifier, toSpki } from './issuer.ts';
import { signatureAlgorithm, signStructure, signStructureAsync } from './signed-structure.ts';

const VERSION_3 = Buffer.from('a003020102', 'hex');

/** First and last moment of validity in epoch milliseconds, truncated to seconds. */
export interface Validity {
  notBefore: number;
  notAfter: number;
}

export interface AuthorityOrder extends Validity {
  names: SubjectNames;
  serial: Buffer;
  publicKey: KeyObject;
  /** RSA or on P-256. */
  privateKey: KeyObject;
}

interface LeafOrder extends Validity {
  issuer: Issuer;
  serial: Buffer;
  /** RSA, EC or Ed25519. */
  publicKey: KeyObject;
}

export interface ClientOrder extends LeafOrder {
  names: SubjectNames;
  /** http or https. */
  crlUrl: string;
}

export interface ServerOrder extends LeafOrder {
  commonName: string;
  /**
   * Omitted if only this server would offer the CRL: fetching it requires trusting the certificate first (RFC 5280,
   * section 8).
   */
  crlUrl?: string;
  /** Host names, a leading `*.` allowed, and IP addresses; at least one. */
  hosts: readonly string[];
}

/**
 * Self-signed; may only sign client certificates and CRLs.
 * @returns DER
 */
export function buildAuthorityCertificate(order: AuthorityOrder): Buffer {
  const { names, privateKey } = order;
  const subject = encodeSubject(names);
  const issuer: Issuer = { subject, keyIdentifier: keyIdentifier(order.publicKey), privateKey };
  const usage = { authority: true, keyUsage: ['keyCertSign', 'cRLSign'] } as const;
  return signStructure(encodeContent({ ...order, issuer }, subject, usage), privateKey);
}

/**
 * For TLS clients only. An email address is in the subject and in the alternative names, as RFC 5280, 4.1.2.6 requires.
 * @returns DER
 * @throws RangeError if the email address is not ASCII
 * @throws TypeError if the URL is invalid
 */
export function buildClientCertificate(order: ClientOrder): Buffer {
  return signStructure(clientContent(order), order.issuer.privateKey);
}

/** The same, but does not keep the main thread busy with an RSA signature. */
export async function issueClientCertificate(order: ClientOrder): Promise<Buffer> {
  return signStructureAsync(clientContent(order), order.issuer.privateKey);
}

function clientContent(order: ClientOrder): Buffer {
  const { email } = order.names;
  return encodeContent(order, encodeSubject(order.names), {
    authority: false,
    keyUsage: ['digitalSignature'],
    extendedKeyUsage: 'clientAuth',
    ...(email === undefined ? {} : { alternativeNames: [{ kind: 'email', value: email }] }),
    crlUrl: toCrlUrl(order.crlUrl),
  });
}

/**
 * For TLS servers only.
 * @returns DER
 * @throws RangeError if there are no hosts, or one is neither a host name nor an IP address
 * @throws TypeError if the URL is invalid
 */
export function buildServerCertificate(order: ServerOrder): Buffer {
  if (order.hosts.length === 0) throw new RangeError('a server certificate needs a host');
  // Key encipherment is for RSA keys only (RFC 8410, section 5; RFC 8813, section 3).
  const isRsa = order.publicKey.asymmetricKeyType === 'rsa';
  const alternativeNames: GeneralName[] = order.hosts.map(toHostName);
  const content = encodeContent(order, encodeSubject({ commonName: order.commonName }), {
    authority: false,
    keyUsage: isRsa ? ['digitalSignature', 'keyEncipherment'] : ['digitalSignature'],
    extendedKeyUsage: 'serverAuth',
    alternativeNames,
    ...(order.crlUrl === undefined ? {} : { crlUrl: toCrlUrl(order.crlUrl) }),
  });
  return signStructure(content, order.issuer.privateKey);
}

/** @returns DER of the TBSCertificate */
function encodeContent(
  order: LeafOrder,
  subject: Buffer,
  extensions: Omit<Extensions, 'subjectKeyIdentifier' | 'authorityKeyIdentifier'>,
): Buffer {
  const { issuer, serial, notBefore, notAfter, publicKey } = order;
  return tlv(
    TAG.sequence,
    VERSION_3,
    derInteger(serial),
    signatureAlgorithm(issuer.privateKey),
    issuer.subject,
    tlv(TAG.sequence, derTime(notBefore), derTime(notAfter)),
    subject,
    toSpki(publicKey),
    encodeExtensions({
      ...extensions,
      subjectKeyIdentifier: keyIdentifier(publicKey),
      authorityKeyIdentifier: issuer.keyIdentifier,
    }),
  );
}

/** In ASCII, as the extension requires. @throws TypeError unless it is an http or https URL */
function toCrlUrl(text: string): string {
  const { protocol, href } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`the CRL URL must be http or https (got ${text})`);
  return href;
}
