// DER (X.690, section 10) as far as certificates need it: a strict reader of one level at a time, and a writer.

/** Tag octets, class and constructed bit included. */
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

/** Four octets of length are more than anything read here can have. */
const MAX_LENGTH_OCTETS = 4;
/** RFC 5280, 4.1.2.5: UTCTime has two digits for the year, which mean 1950 to 2049. */
const UTC_TIME_YEARS = { first: 1950, last: 2049 } as const;

export interface DerElement {
  tag: number;
  /** What the header announces. */
  content: Buffer;
  /** Header and content. */
  bytes: Buffer;
}

/** The bytes are not what DER, or the structure that was expected, allows. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

/**
 * Splits `bytes` into the elements that stand in it side by side, without looking into them: nesting costs nothing.
 *
 * @returns views on `bytes`
 * @throws DerError on anything but one-octet tags with definite, minimal lengths that fill `bytes` exactly
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
 * The elements inside one that must be there.
 *
 * @throws DerError as `readElements` does, and if the element is missing or has another tag
 */
export function openElement(element: DerElement | undefined, tag: number): DerElement[] {
  return readElements(contentOf(element, tag));
}

/** @throws DerError if the element is missing or has another tag */
export function contentOf(element: DerElement | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw new DerError(`no element with tag ${tag} where there must be one`);
  return element.content;
}

function readElement(bytes: Buffer, start: number): DerElement {
  const tag = octetAt(bytes, start);
  if (tag === 0 || (tag & 0x1f) === 0x1f) throw new DerError(`tag ${tag} is not in use`);

  const first = octetAt(bytes, start + 1);
  const lengthOctets = first < 0x80 ? 0 : first - 0x80;
  const contentStart = start + 2 + lengthOctets;
  const length = first < 0x80 ? first : readLongLength(bytes, start + 2, lengthOctets);
  if (length > bytes.length - contentStart) throw new DerError('an element ends behind the data');
  const end = contentStart + length;
  return { tag, content: bytes.subarray(contentStart, end), bytes: bytes.subarray(start, end) };
}

/** @param octets 0 stands for the indefinite form, which DER does not have */
function readLongLength(bytes: Buffer, start: number, octets: number): number {
  if (octets === 0 || octets > MAX_LENGTH_OCTETS) throw new DerError('the form of a length is not allowed');
  if (start + octets > bytes.length) throw new DerError('a length ends behind the data');
  const length = bytes.readUIntBE(start, octets);
  if (length < 0x80 || length < 256 ** (octets - 1)) throw new DerError('a length is longer than needed');
  return length;
}

function octetAt(bytes: Buffer, offset: number): number {
  const octet = bytes[offset];
  if (octet === undefined) throw new DerError('an element ends behind the data');
  return octet;
}

/** One element: its header, and the parts behind one another. */
export function tlv(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), ...parts]);
  const octets = bigEndian(length);
  return Buffer.concat([Buffer.of(tag, 0x80 + octets.length), octets, ...parts]);
}

/** @param value a safe integer from 0, or a number as big-endian bytes, which is taken as positive */
export function derInteger(value: number | Uint8Array): Buffer {
  const bytes = typeof value === 'number' ? bigEndian(value) : value;
  const start = bytes.findIndex((octet) => octet !== 0);
  const digits = start === -1 ? Buffer.alloc(1) : bytes.subarray(start);
  // A leading bit of 1 would make it negative.
  return (digits[0] ?? 0) < 0x80 ? tlv(TAG.integer, digits) : tlv(TAG.integer, Buffer.alloc(1), digits);
}

/**
 * A moment in whole seconds: UTCTime up to 2049, GeneralizedTime from 2050 (RFC 5280, 4.1.2.5).
 *
 * @param ms epoch milliseconds; what exceeds a second is cut off
 * @throws RangeError outside the years 0 to 9999
 */
export function derTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\.\d+|[-:T]/gu, '');
  if (!/^\d{14}Z$/u.test(digits)) throw new RangeError('a certificate cannot show this year');
  const year = Number(digits.slice(0, 4));
  return year >= UTC_TIME_YEARS.first && year <= UTC_TIME_YEARS.last
    ? tlv(TAG.utcTime, Buffer.from(digits.slice(2), 'latin1'))
    : tlv(TAG.generalizedTime, Buffer.from(digits, 'latin1'));
}

/** @throws RangeError unless it is a safe integer from 0 */
function bigEndian(value: number): Buffer {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${value} is not a whole number from 0`);
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}
