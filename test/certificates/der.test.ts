import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  contentOf,
  DerError,
  derInteger,
  derTime,
  openElement,
  readElements,
  tlv,
} from '#server/features/certificates/der.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('the reader', () => {
  test('splits one level into its elements and leaves what is inside alone', () => {
    const elements = readElements(hex('0201 05 3003 ff ff ff 0500'));
    expect(elements).toEqual([
      { tag: 0x02, content: hex('05'), bytes: hex('020105') },
      { tag: 0x30, content: hex('ffffff'), bytes: hex('3003ffffff') },
      { tag: 0x05, content: hex(''), bytes: hex('0500') },
    ]);
    expect(readElements(Buffer.alloc(0))).toEqual([]);
  });

  test.each([
    ['a tag alone', '30'],
    ['content that ends too early', '0402 00'],
    ['a second element that ends too early', '0500 0401'],
    ['an indefinite length', '3080 0000'],
    ['the end of an indefinite length', '0000'],
    ['a long length below 128', `0481 7f ${'00'.repeat(127)}`],
    ['a long length with a leading zero', `0482 0080 ${'00'.repeat(128)}`],
    ['a length of five octets', '0485 0000000001 00'],
    ['the reserved length', '04ff'],
    ['a length that ends too early', '0482 01'],
    ['a length of 4 GB', '0484 ffffffff 00'],
    ['a tag of several octets', '1f8101 00'],
  ])('refuses %s', (_name, bytes) => {
    expect(() => readElements(hex(bytes))).toThrow(DerError);
  });

  test('reads all that the writer writes', () => {
    const element = fc.tuple(fc.integer({ min: 1, max: 0xff }), fc.uint8Array({ maxLength: 70_000 }));
    fc.assert(
      fc.property(fc.array(element, { maxLength: 4 }), (elements) => {
        const written = elements.filter(([tag]) => (tag & 0x1f) !== 0x1f);
        const bytes = Buffer.concat(written.map(([tag, content]) => tlv(tag, content)));
        expect(readElements(bytes).map(({ tag, content }) => [tag, content.toString('hex')])).toEqual(
          written.map(([tag, content]) => [tag, Buffer.from(content).toString('hex')]),
        );
      }),
      { numRuns: 50 },
    );
  });

  test('accepts only bytes that the writer would write', () => {
    const octet = fc.oneof(fc.constantFrom(0x02, 0x30, 0x80, 0x81, 0x82, 0, 1, 2), fc.nat(255));
    fc.assert(
      fc.property(fc.array(octet, { maxLength: 12 }), (octets) => {
        const bytes = Buffer.from(octets);
        try {
          const again = readElements(bytes).map(({ tag, content }) => tlv(tag, content));
          expect(Buffer.concat(again)).toEqual(bytes);
        } catch (error) {
          if (!(error instanceof DerError)) throw error;
        }
      }),
      { numRuns: 5000 },
    );
  });

  test('opens an element that is there and has the tag', () => {
    const [element] = readElements(hex('3003 020105'));
    expect(openElement(element, 0x30).map(({ tag }) => tag)).toEqual([0x02]);
    expect(contentOf(element, 0x30)).toEqual(hex('020105'));
    expect(() => openElement(element, 0x31)).toThrow(DerError);
    expect(() => contentOf(undefined, 0x30)).toThrow(DerError);
  });
});

describe('an integer', () => {
  test.each([
    [0, '020100'],
    [1, '020101'],
    [127, '02017f'],
    [128, '02020080'],
    [256, '02020100'],
    [2 ** 31, '02050080000000'],
    [2 ** 32, '02050100000000'],
    [Number.MAX_SAFE_INTEGER, '02071fffffffffffff'],
  ])('%d is %s', (value, bytes) => {
    expect(derInteger(value)).toEqual(hex(bytes));
  });

  test.each([-1, 0.5, 2 ** 53, Number.NaN])('%d is refused', (value) => {
    expect(() => derInteger(value)).toThrow(RangeError);
  });

  test('is the same number, positive and as short as can be, from any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 24 }), (bytes) => {
        const content = readElements(derInteger(bytes))[0]!.content;
        const value = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`);
        expect(BigInt.asIntN(content.length * 8, BigInt(`0x${content.toString('hex')}`))).toBe(value);
        expect(content.length === 1 || content[0] !== 0 || content[1]! >= 0x80).toBe(true);
      }),
    );
  });
});

describe('a moment', () => {
  test.each([
    ['1949-12-31T23:59:59.999Z', '180f', '19491231235959Z'],
    ['1950-01-01T00:00:00.000Z', '170d', '500101000000Z'],
    ['2026-06-05T04:03:02.999Z', '170d', '260605040302Z'],
    ['2049-12-31T23:59:59.999Z', '170d', '491231235959Z'],
    ['2050-01-01T00:00:00.000Z', '180f', '20500101000000Z'],
    ['9999-12-31T23:59:59.999Z', '180f', '99991231235959Z'],
  ])('%s', (moment, header, text) => {
    expect(derTime(Date.parse(moment))).toEqual(Buffer.concat([hex(header), Buffer.from(text)]));
  });

  test.each([Date.UTC(10_000, 0, 1), Date.UTC(-1, 0, 1), Number.NaN])('%d is refused', (ms) => {
    expect(() => derTime(ms)).toThrow(RangeError);
  });
});
