import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readableText, textProblem } from '#server/wire/readable-text.ts';
import { anyCharacter } from '../helpers/any-character.ts';

/** The characters are spelled out: a reader of this file cannot see them otherwise. */
const REFUSED: [name: string, text: string, problem: string][] = [
  ['NUL', 'a\u0000b', 'contains a control character (U+0000)'],
  ['an escape sequence', 'a\u001B[2J', 'contains a control character (U+001B)'],
  ['a C1 control', 'a\u009Bb', 'contains a control character (U+009B)'],
  ['a tab', 'a\tb', 'contains a tab'],
  ['a line feed', 'a\nb', 'contains a line break'],
  ['a carriage return', 'a\rb', 'contains a line break'],
  ['a line separator', 'a\u2028b', 'contains a line break'],
  ['a paragraph separator', 'a\u2029b', 'contains a line break'],
  ['an override', 'invoice\u202Efdp.exe', 'contains a text direction control (U+202E)'],
  ['an embedding', 'a\u202Ab', 'contains a text direction control (U+202A)'],
  ['an isolate', 'a\u2066b\u2069', 'contains a text direction control (U+2066)'],
  ['a left-to-right mark', 'a\u200Eb', 'contains a text direction control (U+200E)'],
  ['a right-to-left mark', 'a\u200Fb', 'contains a text direction control (U+200F)'],
  ['an Arabic letter mark', 'a\u061Cb', 'contains a text direction control (U+061C)'],
  ['a zero-width space', 'Ac\u200Bme', 'contains an invisible character (U+200B)'],
  ['a byte order mark', 'Ac\uFEFFme', 'contains an invisible character (U+FEFF)'],
  ['a word joiner', 'Ac\u2060me', 'contains an invisible character (U+2060)'],
  ['a soft hyphen', 'Ac\u00ADme', 'contains an invisible character (U+00AD)'],
  ['a Hangul filler', 'Ac\u3164me', 'contains an invisible character (U+3164)'],
  [
    'text hidden in tags after a flag',
    `\u{1F3F4}${'\u{E0041}'.repeat(8)}`,
    'contains an invisible character (U+E0041)',
  ],
  ['text hidden in tags', 'Acme\u{E0041}\u{E0042}', 'contains an invisible character (U+E0041)'],
  ['an interlinear annotation', 'a\uFFF9b', 'contains an invisible character (U+FFF9)'],
  ['a joiner between Latin letters', 'Ac\u200Dme', 'contains an invisible character (U+200D)'],
  ['a non-joiner between Latin letters', 'Ac\u200Cme', 'contains an invisible character (U+200C)'],
  ['a joiner at the beginning', '\u200Dمی', 'contains an invisible character (U+200D)'],
  ['a non-joiner at the end', 'می\u200C', 'contains an invisible character (U+200C)'],
  ['two non-joiners in a row', 'می\u200C\u200Cخواهم', 'contains an invisible character (U+200C)'],
  ['an emoji joined to nothing', '👩\u200D', 'contains an invisible character (U+200D)'],
  ['an emoji joined to a letter', '👩\u200Da', 'contains an invisible character (U+200D)'],
  ['a variation selector without a character', ' \uFE0F', 'contains an invisible character (U+FE0F)'],
  ['half of a surrogate pair', 'a\uD83Db', 'contains half of a surrogate pair (U+D83D)'],
];

const ALLOWED: [name: string, text: string][] = [
  ['Latin with accents', 'Ústav soudního lékařství, Nováček & Söhne'],
  ['combining marks', 'Nova\u0301k'],
  ['Arabic', 'شركة الخليج'],
  ['Arabic with Latin', 'شركة Acme (2026)'],
  ['Hebrew', 'חברת תוכנה'],
  ['Hebrew with points', 'שָׁלוֹם'],
  ['Persian with a non-joiner', 'می\u200Cخواهم'],
  ['Urdu', 'پاکستان'],
  ['Hindi with a joiner', 'क्\u200Dष'],
  ['Hindi with a non-joiner', 'क्\u200Cष'],
  ['Bengali ya-phalaa', 'র\u200D্য'],
  ['Sinhala', 'ශ්\u200Dරී ලංකා'],
  ['Malayalam chillu', 'ന്\u200Dറെ'],
  ['Chinese', '東京証券取引所'],
  ['an ideographic variation sequence', '葛\u{E0100}城市'],
  ['Korean', '한국전력공사'],
  ['Thai', 'บริษัท'],
  ['Mongolian with a variation selector', 'ᠭ\u180B'],
  ['an emoji', 'Rocket 🚀'],
  ['an emoji with a skin tone', '👍🏽'],
  ['a family', '👨\u200D👩\u200D👧\u200D👦'],
  ['a profession with a skin tone', '👩🏽\u200D🔬'],
  ['the rainbow flag', '🏳\uFE0F\u200D🌈'],
  ['the flag of Wales', '🏴\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}'],
  ['a keycap', '1\uFE0F\u20E3'],
  ['a no-break space', 'Acme\u00A0GmbH'],
  ['an ideographic space', '株式会社\u3000例'],
  ['nothing', ''],
];

describe('a name', () => {
  it.each(REFUSED)('is refused with %s', (_name, text, problem) => {
    expect(textProblem(text)?.message).toBe(problem);
    expect(textProblem(readableText(text))).toBeNull();
  });

  it.each(ALLOWED)('may be %s', (_name, text) => {
    expect(textProblem(text)).toBeNull();
    expect(readableText(text)).toBe(text);
  });
});

it('with tens of thousands of hidden characters is judged at once', () => {
  // If each were compared with all before it, this would take minutes.
  const tags = '\u{E0041}'.repeat(200_000);
  expect(textProblem(tags)).toEqual({
    message: 'contains an invisible character (U+E0041)',
    reason: 'hidden_character',
    values: { character: 'U+E0041' },
  });
  expect(readableText(`x${tags}`)).toBe('x');
});

describe('several lines', () => {
  it.each(['one\ntwo', 'one\r\ntwo', '\tindented'])('may be %j', (text) => {
    expect(textProblem(text, { multiline: true })).toBeNull();
  });

  it.each(['a\u0000b', 'a\u202Eb', 'a\u200Bb', 'a\u2028b'])('may not be %j', (text) => {
    expect(textProblem(text, { multiline: true })).not.toBeNull();
  });
});

describe('text from client software', () => {
  it.each([
    ['a\tb\r\nc', 'a b c'],
    ['Bob’s\u202E PC', 'Bob’s PC'],
    ['ws\u200B-7', 'ws-7'],
    ['\uD83D', ''],
    ['می\u200Cخواهم\u200C', 'می\u200Cخواهم'],
  ])('%j becomes %j', (text, kept) => {
    expect(readableText(text)).toBe(kept);
  });

  it('is always readable afterwards', () => {
    const unit = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 3 }),
      fc.constantFrom(
        '\u200D',
        '\u200C',
        '\uFE0F',
        '👩',
        'می',
        'क्',
        '\u3164',
        '\u180B',
        '\u{E0041}',
        '🏴',
        '\uD83D',
      ),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), (units) => {
        const kept = readableText(units.join(''));
        expect(textProblem(kept)).toBeNull();
        expect(readableText(kept)).toBe(kept);
      }),
      { numRuns: 500 },
    );
  });
});
