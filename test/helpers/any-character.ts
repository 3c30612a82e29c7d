// Random text of any characters.
import { nat } from 'fast-check';

const SURROGATES_START = 0xd800;
const SURROGATES = 0x800;
const CODE_POINTS = 0x110000 - SURROGATES;

/**
 * The same characters for the same seed as fast-check's unit `binary`, and a string of them has the same special cases,
 * such as `__proto__`. To find those, fast-check makes a table of all 1.1 million characters in each process.
 */
export const anyCharacter = nat({ max: CODE_POINTS - 1 }).map(
  (index) => String.fromCodePoint(index < SURROGATES_START ? index : index + SURROGATES),
  (value) => {
    const code = typeof value === 'string' ? value.codePointAt(0) : undefined;
    if (code === undefined || value !== String.fromCodePoint(code)) throw new Error('not a character');
    if (code < SURROGATES_START) return code;
    if (code < SURROGATES_START + SURROGATES) throw new Error('half of a surrogate pair');
    return code - SURROGATES;
  },
);
