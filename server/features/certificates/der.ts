// A strict DER reader (X.690, section 10) for one level at a time, and a writer, as far as certificates need them.

/** Tag octets, including class and constructed bit. */
export const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  enumerated: 0x0a,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
} as const;

/** Four length octets are more than anything read here needs. */
const MAX_LENGTH_OCTETS = 4;
/** RFC 5280, 4.1.2.5: the two-digit year of UTCTime means 1950 to 2049. */
const UTC_TIME_YEARS = { first: 1950, last: 2049 } as const;

export interface DerElement {
  tag: number;
  /** As long as the header declares. */
  content: Buffer;
  /** Header and content. */
  bytes: Buffer;
}

/** The bytes violate DER or the expected structure. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

/**
 * Splits `bytes` into its sibling elements without descending, so nesting costs nothing.
 * @returns views on `bytes`
 * @throws DerError unless one-octet tags with definite, minimal lengths fill `bytes` exactly
 */
export function readElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const element = readElement(bytes, offset);
    elements.push(element);
    offset += element.bytes.length;
  }
  return elements;
}

/**
 * Returns the elements inside a required element.
 * @throws DerError as `readElements` does, and if the element is missing or has another tag
 */
export function openElement(element: DerElement | undefined, tag: number): DerElement[] {
  return readElements(contentOf(element, tag));
}

/** @throws DerError if the element is missing or has another tag */
export function contentOf(element: DerElement | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw new DerError(`a required element with tag ${tag} is missing`);
  return element.content;
}

function readElement(bytes: Buffer, start: number): DerElement {
  const tag = octetAt(bytes, start);
  if (tag === 0 || (tag & 0x1f) === 0x1f) throw new DerError(`tag ${tag} is not supported`);

  const first = octetAt(bytes, start + 1);
  const lengthOctets = first < 0x80 ? 0 : first - 0x80;
  const contentStart = start + 2 + lengthOctets;
  const length = first < 0x80 ? first : readLongLength(bytes, start + 2, lengthOctets);
  if (length > bytes.length - contentStart) throw new DerError('an element exceeds the data');
  const end = contentStart + length;
  return { tag, content: bytes.subarray(contentStart, end), bytes: bytes.subarray(start, end) };
}

/** @param octets 0 is the indefinite form, which DER forbids */
function readLongLength(bytes: Buffer, start: number, octets: number): number {
  if (octets === 0 || octets > MAX_LENGTH_OCTETS) throw new DerError('the form of a length is not allowed');
  if (start + octets > bytes.length) throw new DerError('a length exceeds the data');
  const length = bytes.readUIntBE(start, octets);
  if (length < 0x80 || length < 256 ** (octets - 1)) throw new DerError('a length is longer than needed');
  return length;
}

function octetAt(bytes: Buffer, offset: number): number {
  const octet = bytes[offset];
  if (octet === undefined) throw new DerError('an element exceeds the data');
  return octet;
}

/** Encodes one element: header, then the concatenated parts. */
export function tlv(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), ...parts]);
  const octets = bigEndian(length);
  return Buffer.concat([Buffer.of(tag, 0x80 + octets.length), octets, ...parts]);
}

/** @param value a non-negative safe integer, or a positive number as big-endian bytes */
export function derInteger(value: number | Uint8Array): Buffer {
  const bytes = typeof value === 'number' ? bigEndian(value) : value;
  const start = bytes.findIndex((octet) => octet !== 0);
  const digits = start === -1 ? Buffer.alloc(1) : bytes.subarray(start);
  // A leading 1 bit would make the number negative.
  return (digits[0] ?? 0) < 0x80 ? tlv(TAG.integer, digits) : tlv(TAG.integer, Buffer.alloc(1), digits);
}

/**
 * Encodes a time in whole seconds: UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280, 4.1.2.5).
 * @param ms epoch milliseconds, truncated to seconds
 * @throws RangeError outside the years 0 to 9999
 */
export function derTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\.\d+|[-:T]/gu, '');
  if (!/^\d{14}Z$/u.test(digits)) throw new RangeError('a certificate time must be in the years 0 to 9999');
  const year = Number(digits.slice(0, 4));
  return year >= UTC_TIME_YEARS.first && year <= UTC_TIME_YEARS.last
    ? tlv(TAG.utcTime, Buffer.from(digits.slice(2), 'latin1'))
    : tlv(TAG.generalizedTime, Buffer.from(digits, 'latin1'));
}

/** @throws RangeError unless it is a non-negative safe integer */
function bigEndian(value: number): Buffer {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${value} is not a non-negative whole number`);
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}
