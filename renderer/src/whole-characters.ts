// Shortens texts without cutting an emoji or a letter with its accents in two: the server refuses such halves.

const charactersOf = (text: string) =>
  Array.from(
    new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text),
    ({ segment }) => segment,
  );

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
