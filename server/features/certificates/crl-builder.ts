// Builds CRLs (RFC 5280, section 5) from entries that were encoded at revocation.
import type { RevocationReason } from './certificate-state-contract.ts';
import { contentOf, derInteger, derTime, openElement, readElements, TAG, tlv } from './der.ts';
import type { Issuer } from './issuer.ts';
import { signatureAlgorithm, signStructure } from './signed-structure.ts';

/** RFC 5280, 5.3.1. */
const REASON_CODE = {
  unspecified: 0,
  key_compromise: 1,
  affiliation_changed: 3,
  superseded: 4,
  cessation_of_operation: 5,
  privilege_withdrawn: 9,
} as const satisfies Record<RevocationReason, number>;

/** Object identifiers, as DER elements. */
const AUTHORITY_KEY_IDENTIFIER = Buffer.from('0603551d23', 'hex');
const CRL_NUMBER = Buffer.from('0603551d14', 'hex');
const REASON_CODE_EXTENSION = Buffer.from('0603551d15', 'hex');

/** `keyIdentifier` in AuthorityKeyIdentifier, and `crlExtensions` in TBSCertList. */
const KEY_IDENTIFIER_TAG = 0x80;
const CRL_EXTENSIONS_TAG = 0xa0;
const VERSION_2 = derInteger(1);

export interface Revocation {
  serial: Buffer;
  /** Epoch milliseconds. */
  revokedAt: number;
  reason: RevocationReason;
}

export interface RevocationListOrder {
  issuer: Issuer;
  /** A safe integer that only increases (RFC 5280, 5.2.3). */
  number: number;
  /** Epoch milliseconds. */
  thisUpdate: number;
  /** Epoch milliseconds; relying parties reject the CRL from then on. */
  nextUpdate: number;
  /** Concatenated results of `encodeRevokedEntry`, one per revoked certificate. */
  entries: Buffer;
}

/**
 * Encodes one element of revokedCertificates. The unspecified reason is omitted (RFC 5280, 5.3.1).
 * @returns DER, about 50 bytes
 */
export function encodeRevokedEntry({ serial, revokedAt, reason }: Revocation): Buffer {
  const code = REASON_CODE[reason];
  const parts = [derInteger(serial), derTime(revokedAt)];
  if (code !== REASON_CODE.unspecified) {
    const extension = encodeExtension(REASON_CODE_EXTENSION, tlv(TAG.enumerated, Buffer.of(code)));
    parts.push(tlv(TAG.sequence, extension));
  }
  return tlv(TAG.sequence, ...parts);
}

/**
 * Builds a complete version 2 CRL with authority key identifier and number. Without entries, revokedCertificates is
 * absent (RFC 5280,
 * 5.1.2.6).
 * @returns DER
 * @throws RangeError if the number is not a non-negative safe integer
 */
export function buildRevocationList(order: RevocationListOrder): Buffer {
  const { issuer, number, thisUpdate, nextUpdate, entries } = order;
  const authority = tlv(TAG.sequence, tlv(KEY_IDENTIFIER_TAG, issuer.keyIdentifier));
  const extensions = tlv(
    TAG.sequence,
    encodeExtension(AUTHORITY_KEY_IDENTIFIER, authority),
    encodeExtension(CRL_NUMBER, derInteger(number)),
  );
  const content = tlv(
    TAG.sequence,
    VERSION_2,
    signatureAlgorithm(issuer.privateKey),
    issuer.subject,
    derTime(thisUpdate),
    derTime(nextUpdate),
    ...(entries.length === 0 ? [] : [tlv(TAG.sequence, entries)]),
    tlv(CRL_EXTENSIONS_TAG, extensions),
  );
  return signStructure(content, issuer.privateKey);
}

/** Before revokedCertificates in TBSCertList: version, signature, issuer, thisUpdate, nextUpdate. */
const FIELDS_BEFORE_ENTRIES = 5;

/**
 * Reads the entries of a CRL that `buildRevocationList` has built.
 * @param crl DER
 * @returns a view on `crl`: what was given as `entries`
 * @throws DerError if it is none
 */
export function entriesOf(crl: Buffer): Buffer {
  const [content] = openElement(readElements(crl)[0], TAG.sequence);
  const revoked = openElement(content, TAG.sequence)[FIELDS_BEFORE_ENTRIES];
  // Without entries, the extensions follow.
  return revoked?.tag === TAG.sequence ? contentOf(revoked, TAG.sequence) : Buffer.alloc(0);
}

/** Encodes a non-critical extension; all extensions here are non-critical. */
function encodeExtension(objectIdentifier: Buffer, value: Buffer): Buffer {
  return tlv(TAG.sequence, objectIdentifier, tlv(TAG.octetString, value));
}
