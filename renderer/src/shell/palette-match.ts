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
const OFFERED: readonly PaletteKind[] = ['record', 'recent', 'commands', 'screens'];

/** Lower is better: words that begin a word of the label, the first one its beginning. Null: a word is missing. */
function rankOf({ label, detail = '' }: PaletteChoice, words: readonly string[]): number | null {
  const name = foldForSearch(label);
  const all = `${name} ${foldForSearch(detail)}`;
  if (!words.every((word) => all.includes(word))) return null;
  const begins = searchWords(name);
  const inside = words.filter((word) => !begins.some((begin) => begin.startsWith(word))).length;
  return 2 * inside + (name.startsWith(words[0] ?? '') ? 0 : 1);
}

/** Words may be in any order; choices of the same rank keep their order. */
export function matchChoices(choices: readonly PaletteChoice[], search: string): PaletteChoice[] {
  const words = searchWords(foldForSearch(search));
  if (words.length === 0) return choices.filter(({ kind }) => OFFERED.includes(kind));
  return choices
    .flatMap((choice) => {
      const rank = rankOf(choice, words);
      return rank === null ? [] : [{ choice, rank }];
    })
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ choice }) => choice);
}
