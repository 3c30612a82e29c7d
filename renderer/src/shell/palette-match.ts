// Which choices of the command palette match, the best first.
import type { Component } from 'vue';
import { foldForSearch, searchWords } from '#server/wire/search-text.ts';

export type PaletteKind =
  | 'record'
  | 'recent'
  | 'commands'
  | 'screens'
  | 'settings'
  | 'webhooks'
  | 'tokens'
  | 'licenses';

export interface PaletteChoice {
  id: string;
  kind: PaletteKind;
  label: string;
  /** What it belongs to, such as the holder of the open license. */
  detail?: string | undefined;
  icon?: Component | undefined;
  run: () => void;
}

/** Without a search, only these: all the others would bury them. */
const OFFERED: readonly PaletteKind[] = ['recent', 'commands', 'screens'];
/** The actions that come first; the views of the record follow. */
const OFFERED_FOR_RECORD = 6;
/** Fewer characters are inside of too many words. */
const MIN_INSIDE = 3;
/** Where the licenses are that the server found by anything. */
const FOUND_RANK = 1;

/** Lower is better: words that begin a word of the label, the first one its beginning. Null: a word is missing. */
function rankOf({ label, detail = '' }: PaletteChoice, words: readonly string[]): number | null {
  const name = foldForSearch(label);
  const all = `${name} ${foldForSearch(detail)}`;
  if (!words.every((word) => all.includes(word))) return null;
  const begins = searchWords(name);
  const inside = words.filter((word) => !begins.some((begin) => begin.startsWith(word))).length;
  if (inside > 0 && words.some(({ length }) => length < MIN_INSIDE)) return null;
  return 2 * inside + (name.startsWith(words[0] ?? '') ? 0 : 1);
}

/**
 * Words may be in any order; choices of the same rank keep their order.
 * @param found what the server found, which need not match by its label
 */
export function matchChoices(
  choices: readonly PaletteChoice[],
  search: string,
  found: readonly PaletteChoice[] = [],
): PaletteChoice[] {
  const words = searchWords(foldForSearch(search));
  if (words.length === 0) {
    const actions = choices.filter(({ kind }) => kind === 'record').slice(0, OFFERED_FOR_RECORD);
    return [...actions, ...choices.filter(({ kind }) => OFFERED.includes(kind))];
  }
  const ranked = choices.flatMap((choice) => {
    const rank = rankOf(choice, words);
    return rank === null ? [] : [{ choice, rank }];
  });
  return [...ranked, ...found.map((choice) => ({ choice, rank: FOUND_RANK }))]
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ choice }) => choice);
}
