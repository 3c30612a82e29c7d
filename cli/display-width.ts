// The width of a text in terminal columns, so that tables align names in any script.

/** East Asian scripts, full-width forms and emoji take two columns (Unicode Standard Annex 11, approximately). */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;
const ELLIPSIS = '…';

/** A column for each character. */
const PLAIN = /^[\x20-\x7E]*$/u;

/** Created for the first text that needs it: that takes 8 ms, and most commands and the server need none. */
let segmenter: Intl.Segmenter | undefined;

function charactersOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of charactersOf(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** The text, truncated to at most `max` columns with an ellipsis. */
export function truncate(text: string, max: number): string {
  if (displayWidth(text) <= max) return text;
  let kept = '';
  let width = displayWidth(ELLIPSIS);
  for (const { segment } of charactersOf(text)) {
    width += displayWidth(segment);
    if (width > max) break;
    kept += segment;
  }
  return kept + ELLIPSIS;
}
