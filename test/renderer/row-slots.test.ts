import { describe, expect, it } from 'vitest';
import { placeRows } from '../../renderer/src/components/row-slots.ts';

const rowsAt = (...indices: number[]) => indices.map((index) => ({ index, key: `row ${index}` }));
const shown = (...places: [index: number, slot: number][]) =>
  places.map(([index, slot]) => ({ index, key: `row ${index}`, slot }));
const AT_REST = { focused: null, keepsPlaces: false };
const SCROLLING = { focused: null, keepsPlaces: true };

describe('elements of the rows of a list', () => {
  it('are new for the first rows', () => {
    expect(placeRows(rowsAt(0, 1), [], AT_REST)).toEqual(shown([0, 0], [1, 1]));
  });

  it('show the rows that come, in their order', () => {
    const before = shown([0, 0], [1, 1], [2, 2], [3, 3], [4, 4]);
    expect(placeRows(rowsAt(2, 3, 4, 5, 6), before, AT_REST)).toEqual(
      shown([2, 2], [3, 3], [4, 4], [5, 0], [6, 1]),
    );
  });

  it('stay where they are in the document while the list scrolls', () => {
    const before = shown([0, 0], [1, 1], [2, 2]);
    const scrolled = placeRows(rowsAt(1, 2, 3, 4), before, SCROLLING);
    expect(scrolled).toEqual(shown([3, 0], [1, 1], [2, 2], [4, 3]));
    expect(placeRows(rowsAt(1, 2, 3, 4), scrolled, AT_REST)).toEqual(shown([1, 1], [2, 2], [3, 0], [4, 3]));
  });

  it('leave with their row if they have the focus', () => {
    const before = shown([0, 0], [1, 1], [2, 2], [3, 3]);
    expect(placeRows(rowsAt(1, 2, 3, 4), before, { focused: 0, keepsPlaces: false })).toEqual(
      shown([1, 1], [2, 2], [3, 3], [4, 4]),
    );
  });

  it('are fewer than those that stay, if they have to be moved', () => {
    const before = shown([0, 0], [1, 1], [2, 2], [3, 3]);
    const after = placeRows(rowsAt(2, 3, 4, 5), before, AT_REST);
    expect(after).toEqual(shown([2, 2], [3, 3], [4, 0], [5, 4]));
  });

  it('all show other rows after a jump, without being moved', () => {
    expect(placeRows(rowsAt(70, 71), shown([0, 0], [1, 1], [2, 2]), AT_REST)).toEqual(
      shown([70, 0], [71, 1]),
    );
  });

  it('stay with a row whose place in the list changes', () => {
    const before = [
      { index: 0, key: 'a', slot: 0 },
      { index: 1, key: 'b', slot: 1 },
    ];
    const rows = [
      { index: 0, key: 'new' },
      { index: 1, key: 'a' },
      { index: 2, key: 'b' },
    ];
    expect(placeRows(rows, before, AT_REST)).toEqual([
      { index: 0, key: 'new', slot: 2 },
      { index: 1, key: 'a', slot: 0 },
      { index: 2, key: 'b', slot: 1 },
    ]);
  });
});
