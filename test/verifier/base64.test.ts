import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, encodeBase64 } from '../../verifier/base64.ts';

test('bytes survive, spelled as node:crypto and OpenSSL spell them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = encodeBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64'));
      expect(decodeBase64(text)).toEqual(bytes);
    }),
  );
});

test.each([
  ['a letter beyond ASCII', 'AAÄA'],
  ['missing padding', 'AA'],
  ['too much padding', 'AAAA===='],
  ['padding in the middle', 'AA==AAAA'],
  ['stray bits', 'AB=='],
  ['stray bits before one padding', 'AAB='],
  ['a line break', 'AAAA\nAAAA'],
  ['a space before', ' AAAA'],
  ['a space after', 'AAAA '],
  ['base64url', 'AA-_'],
])('%s is refused', (_name, text) => {
  expect(decodeBase64(text)).toBeNull();
});

test('no value has a second spelling', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ABCabz09+/=-_ \n'), maxLength: 12 }), (text) => {
      const bytes = decodeBase64(text);
      expect(bytes === null || encodeBase64(bytes) === text).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
