// Shortens texts without cutting an emoji or a letter with its accents in two: the server refuses such halves.

/** Created for the first text that needs it: that takes 8 ms, and most commands and the server need none. */
let segmenter: Intl.Segmenter | undefined;

/** What a reader sees as one character, such as a letter with its accents or a joined emoji. */
export function charactersOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** As many characters as fit into so many UTF-16 units. */
export function beginning(text: string, units: number): string {
  if (text.length <= units) return text;
  let kept = '';
  for (const character of charactersOf(text)) {
    if (kept.length + character.length > units) break;
    kept += character;
  }
  return kept;
}

/** At most so many characters, with an ellipsis for the rest. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = charactersOf(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
