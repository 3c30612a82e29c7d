// The counts of a flood from ever new networks stay bounded.
import { describe, expect, it } from 'vitest';
import { recentMap } from '#server/platform/recent-map.ts';

describe('recentMap', () => {
  it('keeps at most the given number of entries, the most recent ones', () => {
    const map = recentMap<number, string>(100);
    for (let key = 0; key < 10_000; key += 1) map.set(key, String(key));
    const kept = Array.from({ length: 10_000 }, (_, key) => key).filter((key) => map.get(key) !== undefined);
    expect(kept.length).toBeLessThanOrEqual(100);
    expect(kept.length).toBeGreaterThanOrEqual(50);
    expect(kept.at(-1)).toBe(9999);
  });

  it('keeps an entry that is in use during a flood of new ones', () => {
    const map = recentMap<number, string>(100);
    map.set(-1, 'in use');
    for (let key = 0; key < 10_000; key += 1) {
      map.set(key, String(key));
      if (key % 40 === 0) expect(map.get(-1)).toBe('in use');
    }
  });
});
