// Hidden characters in names. They make two names look alike, forge log lines or reverse text (UTR #36, UTS #39).
import type { BrokenRule } from './field-rules.ts';

/** Scripts that use joiners (RFC 5892, appendix A.1 and A.2). */
const JOINING_SCRIPTS =
  'Adlm Arab Bali Beng Deva Gujr Guru Java Khmr Knda Mand Mlym Mong Mymr Nkoo Orya Rohg Sinh Sund Syrc Taml Telu Tibt'
    .split(' ')
    .map((script) => String.raw`\p{scx=${script}}`)
    .join('');
const JOINED_LETTER = String.raw`[[[\p{L}\p{M}]&&[${JOINING_SCRIPTS}]]--\p{Default_Ignorable_Code_Point}]`;

const EMOJI = String.raw`\p{Extended_Pictographic}`;

/** Where an invisible character belongs to the visible one before it. */
const AT_HOME = [
  String.raw`(?<=${JOINED_LETTER})[\u200C\u200D](?=${JOINED_LETTER})`,
  String.raw`(?<=${EMOJI}(?:\uFE0F|\p{Emoji_Modifier})?)\u200D(?=${EMOJI})`,
  // Variation selectors: emoji style, and variants of Han characters in Japanese names.
  String.raw`(?<=[[\p{L}\p{N}\p{S}\p{P}]--\p{Default_Ignorable_Code_Point}])[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]`,
  String.raw`(?<=[\p{L}&&\p{scx=Mong}])[\u180B-\u180D\u180F]`,
  // Regional flags, such as that of Wales, consist of a black flag, up to six tags and an end. Without the bound, each of
  // many tags would be compared with all before it.
  String.raw`(?<=\u{1F3F4}[\u{E0020}-\u{E007E}]{0,6})[\u{E0020}-\u{E007F}]`,
].join('|');

const CONTROLS = String.raw`\p{Cc}\p{Zl}\p{Zp}`;
const INVISIBLE = String.raw`\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB`;

let compiled: RegExp | undefined;
/** Compiled on first use, because that takes milliseconds of the start. */
function hiddenCharacters(): RegExp {
  compiled ??= new RegExp(`(?!${AT_HOME})[${CONTROLS}${INVISIBLE}]`, 'gv');
  return compiled;
}

const ASCII = /^[\u0020-\u007E]*$/u;
const LAYOUT = /[\t\n\r]/gu;

const codePoint = (character: string) =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

function describe(character: string): string {
  const code = `(${codePoint(character)})`;
  if (character === '\t') return 'a tab';
  if (/[\n\r\u2028\u2029]/u.test(character)) return 'a line break';
  if (/\p{Cc}/u.test(character)) return `a control character ${code}`;
  if (/\p{Cs}/u.test(character)) return `half of a surrogate pair ${code}`;
  return `${/\p{Bidi_Control}/u.test(character) ? 'a text direction control' : 'an invisible character'} ${code}`;
}

/**
 * Why administrators may not enter this text: `contains an invisible character (U+200B)`.
 * @param multiline allows line feeds, carriage returns and tabs
 * @returns null if they may
 */
export function textProblem(text: string, { multiline = false } = {}): BrokenRule | null {
  if (ASCII.test(text)) return null;
  const [hidden] = (multiline ? text.replaceAll(LAYOUT, ' ') : text).match(hiddenCharacters()) ?? [];
  if (hidden === undefined) return null;
  return {
    message: `contains ${describe(hidden)}`,
    reason: 'hidden_character',
    values: { character: codePoint(hidden) },
  };
}

/** Removes hidden characters from client text and puts it on one line, because the user cannot change them. */
export function readableText(text: string): string {
  if (ASCII.test(text)) return text;
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll(hiddenCharacters(), '');
}
