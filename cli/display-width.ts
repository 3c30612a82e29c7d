// The width of a text in terminal columns, so that tables align names in any script.

/** East Asian scripts, full-width forms and emoji take two columns (Unicode Standard Annex 11, approximately). */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;
const ELLIPSIS = '…';

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of characters.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** The text, truncated to at most `max` columns with an ellipsis. */
export function truncate(text: string, max: number): string {
  if (displayWidth(text) <= max) return text;
  let kept = '';
  let width = displayWidth(ELLIPSIS);
  for (const { segment } of characters.segment(text)) {
    width += displayWidth(segment);
    if (width > max) break;
    kept += segment;
  }
  return kept + ELLIPSIS;
}
