// No single change to a license file goes unnoticed.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../helpers/any-character.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { verifyEd25519, type SignatureCheck } from '../../verifier/ed25519.ts';
import { NotALicenseFileError, verifyLicenseFile } from '../../verifier/verify-license-file.ts';
import { FINGERPRINT, ISSUED_AT, KEY, LICENSE, licenseFile, nativeVerify } from './sample-license-file.ts';

const encryptFor = { licenseKey: LICENSE.license_key, fingerprint: FINGERPRINT };
const FILES = {
  readable: licenseFile(),
  encrypted: licenseFile({ encryptFor }),
  'with Windows line ends': licenseFile().replaceAll('\n', '\r\n'),
};

async function isAccepted(text: string, verifySignature: SignatureCheck): Promise<boolean> {
  try {
    const options = { keys: [KEY], now: ISSUED_AT, ...encryptFor, verifySignature };
    return (await verifyLicenseFile(text, options)).valid;
  } catch (error) {
    expect(error).toBeInstanceOf(NotALicenseFileError);
    return false;
  }
}

function flipped(text: string, bit: number): string {
  const bytes = Buffer.from(text, 'utf8');
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return bytes.toString('utf8');
}

/** What a file says, whatever its line ends. */
function withoutWhitespace(text: string): string {
  return text.replace(/\s+/g, '');
}

describe.each(Object.entries(FILES))('a license file, %s,', (_name, file) => {
  test('is accepted as it is', async () => {
    expect(await isAccepted(file, nativeVerify)).toBe(true);
    expect(await isAccepted(file, verifyEd25519)).toBe(true);
  });

  test('is refused with any one bit flipped, unless that leaves only another whitespace', async () => {
    const survivors: string[] = [];
    for (let bit = 0; bit < Buffer.byteLength(file) * 8; bit++) {
      const changed = flipped(file, bit);
      if (await isAccepted(changed, nativeVerify)) survivors.push(changed);
    }
    expect(survivors.filter((changed) => withoutWhitespace(changed) !== withoutWhitespace(file))).toEqual([]);
  });

  test('is refused with any bits flipped by the portable signature check too', async () => {
    const bits = fc.uniqueArray(fc.nat(Buffer.byteLength(file) * 8 - 1), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(bits, async (chosen) => {
        const changed = chosen.reduce(flipped, file);
        fc.pre(withoutWhitespace(changed) !== withoutWhitespace(file));
        expect(await isAccepted(changed, verifyEd25519)).toBe(false);
      }),
    );
  });

  test('is refused with any piece replaced, left out or added', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(file.length),
        fc.nat(40),
        fc.string({ maxLength: 40 }),
        async (at, length, piece) => {
          const changed = file.slice(0, at) + piece + file.slice(at + length);
          fc.pre(withoutWhitespace(changed) !== withoutWhitespace(file));
          expect(await isAccepted(changed, nativeVerify)).toBe(false);
        },
      ),
      { numRuns: roundsOr(400) },
    );
  });
});

describe('any text', () => {
  const framed = fc
    .string({ unit: anyCharacter })
    .map((body) => `-----BEGIN LICENSE FILE-----${body}-----END LICENSE FILE-----`);
  const encoded = fc.jsonValue().map((value) => {
    const body = Buffer.from(JSON.stringify(value)).toString('base64');
    return `-----BEGIN LICENSE FILE-----${body}-----END LICENSE FILE-----`;
  });
  test.each([
    ['raw', fc.string({ unit: anyCharacter, maxLength: 300 })],
    ['in the armour', framed],
    ['as JSON in the armour', encoded],
  ])('%s is refused without a crash', async (_name, text) => {
    await fc.assert(
      fc.asyncProperty(text, async (anything) => !(await isAccepted(anything, nativeVerify))),
      { numRuns: roundsOr(200) },
    );
  });
});
