// How search texts are compared. The server finds by it, and the back office marks what was found.

/** Fewer characters would occur in many keys by chance. */
const KEY_PART = /^[0-9A-HJKMNP-TV-Z]{5,25}$/u;

/**
 * Removes case and accents, so that `novacek` finds `Nováček`. The databases fold letters differently, SQLite only
 * ASCII.
 */
export function foldForSearch(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** The words of a folded text, each once. */
export function searchWords(folded: string): string[] {
  return [...new Set(folded.split(/\s+/u).filter((word) => word !== ''))];
}

/** Part of a key as it is stored: without separators, O as 0, I and L as 1. Null if the text cannot be one. */
export function keyPartOf(folded: string): string | null {
  const characters = folded
    .replaceAll(/[\s\p{Dash_Punctuation}]/gu, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replaceAll(/[IL]/gu, '1');
  return KEY_PART.test(characters) ? characters : null;
}
