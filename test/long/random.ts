/** A seeded source of random numbers: the same seed and stream give the same numbers. */
export interface Random {
  /** From 0 up to, but not including, `below`. */
  integer(below: number): number;
  /** True that often, from 0 to 1. */
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
}

/** Mulberry32. @param stream independent numbers for each round or scenario of a run */
export function createRandom(seed: number, stream: number): Random {
  let state = (Math.imul(seed, 0x9e37_79b1) ^ Math.imul(stream + 1, 0x85eb_ca6b)) >>> 0;
  const next = () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const integer = (below: number) => Math.floor(next() * below);
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => items[integer(items.length)]!,
  };
}
