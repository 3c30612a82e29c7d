// The width of a text in terminal columns, so that tables align names in any script.
import { charactersOf } from '#server/wire/whole-characters.ts';

/** East Asian scripts, full-width forms and emoji take two columns (Unicode Standard Annex 11, approximately). */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;
const ELLIPSIS = '…';

/** A column for each character. */
const PLAIN = /^[\x20-\x7E]*$/u;

export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of charactersOf(text)) width += WIDE.test(character) ? 2 : 1;
  return width;
}

/** The text, truncated to at most `max` columns with an ellipsis. */
export function truncate(text: string, max: number): string {
  if (displayWidth(text) <= max) return text;
  let kept = '';
  let width = displayWidth(ELLIPSIS);
  for (const character of charactersOf(text)) {
    width += displayWidth(character);
    if (width > max) break;
    kept += character;
  }
  return kept + ELLIPSIS;
}
