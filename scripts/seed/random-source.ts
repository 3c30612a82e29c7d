// Reproducible random choices, fast enough for tens of millions of them.
import { createCipheriv, createHash } from 'node:crypto';

const BLOCK_BYTES = 1 << 16;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

export interface RandomSource {
  /** Valid only until the next call. */
  bytes(size: number): Buffer;
  /** From 0 up to, but excluding, 1. */
  fraction(): number;
  /** From 0 up to, but excluding, `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** A non-negative number, smaller ones more likely, with the average `mean`. */
  geometric(mean: number): number;
}

/** The key stream of AES-256 in counter mode, keyed with the hash of `seed`. */
export function createRandomSource(seed: string): RandomSource {
  const key = createHash('sha256').update(seed).digest();
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  let block = stream.update(ZEROS);
  let at = 0;

  const bytes = (size: number): Buffer => {
    if (at + size > BLOCK_BYTES) {
      block = stream.update(ZEROS);
      at = 0;
    }
    at += size;
    return block.subarray(at - size, at);
  };
  const fraction = (): number => {
    if (at + 4 > BLOCK_BYTES) {
      block = stream.update(ZEROS);
      at = 0;
    }
    at += 4;
    return block.readUInt32LE(at - 4) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    bytes,
    fraction,
    below,
    chance: (probability) => fraction() < probability,
    pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item,
    geometric: (mean) => Math.floor(Math.log(1 - fraction()) / Math.log(mean / (1 + mean))),
  };
}

/** Chooses by weight: `[['common', 9], ['rare', 1]]`. */
export function weighted<Item>(
  rows: readonly (readonly [item: Item, weight: number])[],
): (random: RandomSource) => Item {
  const total = rows.reduce((sum, [, weight]) => sum + weight, 0);
  return (random) => {
    let left = random.fraction() * total;
    for (const [item, weight] of rows) {
      left -= weight;
      if (left < 0) return item;
    }
    return (rows.at(-1) as readonly [Item, number])[0];
  };
}
