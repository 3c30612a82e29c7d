// Where the words of a search are in a text, so that they can be marked.
import { foldForSearch, keyPartOf, searchWords } from '#server/wire/search-text.ts';

/** A piece of a text, whether it was searched for. */
export interface TextPiece {
  text: string;
  isMatch: boolean;
}

/** @returns the same, which keeps the last result: a list asks for the same search with each of its texts */
function lastOf<Result>(of: (search: string) => Result): (search: string) => Result {
  let last: { search: string; result: Result } | null = null;
  return (search) => (last = last?.search === search ? last : { search, result: of(search) }).result;
}

const wordsOf = lastOf((search) => searchWords(foldForSearch(search)));
/** The parts of keys that a search may mean. */
const keyPartsOf = lastOf((search) => {
  const folded = foldForSearch(search);
  return [folded, ...searchWords(folded)].flatMap((text) => keyPartOf(text) ?? []);
});

/** Each of these characters folds to one character. */
const PLAIN = /^[\x20-\x7E]*$/u;

/** The folded text, and for each of its characters where it comes from; null if each comes from its own place. */
function foldWithOrigins(text: string): { folded: string; origins: number[] | null } {
  if (PLAIN.test(text)) return { folded: text.toLowerCase(), origins: null };
  let folded = '';
  const origins: number[] = [];
  let at = 0;
  for (const character of text) {
    const part = foldForSearch(character);
    for (let index = 0; index < part.length; index += 1) origins.push(at);
    folded += part;
    at += character.length;
  }
  return { folded, origins: [...origins, text.length] };
}

/** @param marked for each character, whether it was searched for */
function toPieces(text: string, marked: readonly boolean[]): TextPiece[] {
  const pieces: TextPiece[] = [];
  for (let from = 0, to = 0; from < text.length; from = to) {
    const isMatch = marked[from] ?? false;
    while (to < text.length && (marked[to] ?? false) === isMatch) to += 1;
    pieces.push({ text: text.slice(from, to), isMatch });
  }
  return pieces;
}

export function matchesIn(text: string, search: string): TextPiece[] {
  const words = wordsOf(search);
  const { folded, origins } = words.length === 0 ? { folded: '', origins: null } : foldWithOrigins(text);
  const found = words.filter((word) => folded.includes(word));
  if (found.length === 0) return [{ text, isMatch: false }];
  const originOf = (at: number) => (origins === null ? at : origins[at]);
  const marked: boolean[] = Array.from({ length: text.length }, () => false);
  for (const word of found)
    for (let from = folded.indexOf(word); from >= 0; from = folded.indexOf(word, from + word.length)) {
      const end = originOf(from + word.length) ?? text.length;
      marked.fill(true, originOf(from), Math.max(end, (originOf(from + word.length - 1) ?? 0) + 1));
    }
  return toPieces(text, marked);
}

const SHOWN = 5;
/** More of a match does not fit into a column. */
const MAX_SHOWN_MATCH = 11;

/** The first position of a part of a key in the key with its hyphens. */
function findInKey(key: string, search: string): { from: number; to: number } | null {
  const parts = keyPartsOf(search);
  if (parts.length === 0) return null;
  const positions = [...key].flatMap((character, at) => (character === '-' ? [] : [at]));
  const characters = key.replaceAll('-', '');
  for (const part of parts) {
    const from = characters.indexOf(part);
    if (from < 0) continue;
    return { from: positions[from] as number, to: (positions[from + part.length - 1] as number) + 1 };
  }
  return null;
}

/** A key shortened to its first and last group, or to its first group and the part that was searched for. */
export function shortKey(key: string, search = ''): TextPiece[] {
  const found = search === '' ? null : findInKey(key, search);
  if (found === null) return [{ text: `${key.slice(0, SHOWN)}…${key.slice(-SHOWN)}`, isMatch: false }];
  const marked = [...key].map((_, at) => at >= found.from && at < found.to);
  const pieceOf = (from: number, to: number) => toPieces(key.slice(from, to), marked.slice(from, to));
  const ellipsis: TextPiece = { text: '…', isMatch: false };
  const last = key.length - SHOWN;
  const isInside = found.to > SHOWN && found.from < last;
  if (!isInside) return [...pieceOf(0, SHOWN), ellipsis, ...pieceOf(last, key.length)];
  const from = Math.max(found.from, SHOWN);
  const to = Math.min(found.to, from + MAX_SHOWN_MATCH);
  return [...pieceOf(0, SHOWN), ellipsis, ...pieceOf(from, to), ...(to < key.length ? [ellipsis] : [])];
}
