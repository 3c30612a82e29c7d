// Where the words of a search are in a text, so that they can be marked.
import { foldForSearch, keyPartOf, searchWords } from '#server/wire/search-text.ts';

/** A piece of a text, whether it was searched for. */
export interface TextPiece {
  text: string;
  isMatch: boolean;
}

/** Folding changes no lengths here, so that a list can fold each text as a whole. */
const PLAIN = /^[\x20-\x7E]*$/u;

/** The folded text, and for each of its characters where it comes from. */
function foldWithOrigins(text: string): { folded: string; origins: number[] } {
  if (PLAIN.test(text))
    return { folded: foldForSearch(text), origins: Array.from({ length: text.length + 1 }, (_, at) => at) };
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
  for (let at = 0; at < text.length; at += 1) {
    const isMatch = marked[at] ?? false;
    const last = pieces.at(-1);
    if (last?.isMatch === isMatch) last.text += text.charAt(at);
    else pieces.push({ text: text.charAt(at), isMatch });
  }
  return pieces;
}

export function matchesIn(text: string, search: string): TextPiece[] {
  const words = search === '' ? [] : searchWords(foldForSearch(search));
  if (words.length === 0) return [{ text, isMatch: false }];
  const { folded, origins } = foldWithOrigins(text);
  const marked: boolean[] = Array.from({ length: text.length }, () => false);
  for (const word of words)
    for (let from = folded.indexOf(word); from >= 0; from = folded.indexOf(word, from + word.length)) {
      const end = origins[from + word.length] ?? text.length;
      marked.fill(true, origins[from], Math.max(end, (origins[from + word.length - 1] ?? 0) + 1));
    }
  return toPieces(text, marked);
}

const SHOWN = 5;
/** More of a match does not fit into a column. */
const MAX_SHOWN_MATCH = 11;

/** The first position of a part of a key in the key with its hyphens. */
function findInKey(key: string, search: string): { from: number; to: number } | null {
  const folded = foldForSearch(search);
  const positions = [...key].flatMap((character, at) => (character === '-' ? [] : [at]));
  const characters = key.replaceAll('-', '');
  for (const text of [folded, ...searchWords(folded)]) {
    const part = keyPartOf(text);
    const from = part === null ? -1 : characters.indexOf(part);
    if (part === null || from < 0) continue;
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
