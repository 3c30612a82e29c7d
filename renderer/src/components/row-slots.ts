// Which element shows which row of a list. Elements of rows that leave show those that come: rendering a row anew takes
// several times as long.

interface Row {
  index: number;
  key: string | number;
}

interface Placed {
  /** The element, by a number that stays with the row as long as it is rendered. */
  slot: number;
}

interface Place {
  /** The slot that has the focus: it leaves with its row, so that the focus does not pass to another one. */
  focused: number | null;
  /** Leaves the elements where they are in the document, because moving one makes the browser lay it out anew. */
  keepsPlaces: boolean;
}

/** @param rows to be rendered, in their order @param before those that are rendered @returns as they follow in the document */
export function placeRows<Shown extends Row>(
  rows: readonly Shown[],
  before: readonly (Row & Placed)[],
  { focused, keepsPlaces }: Place,
): (Shown & Placed)[] {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const slots = new Map(before.map(({ key, slot }) => [key, slot]));
  const coming = rows.filter(({ key }) => !slots.has(key));
  const staying = rows.length - coming.length;
  // Vue moves the fewest elements. With more of others, it would move those that stay, and these would lose the focus.
  let most = keepsPlaces || staying === 0 ? before.length : staying - 1;
  const placed: (Shown & Placed)[] = [];
  for (const { key, slot } of before) {
    let row = byKey.get(key);
    if (!row && slot !== focused && most > 0) {
      row = coming.shift();
      most -= 1;
    }
    if (row) placed.push({ ...row, slot });
  }
  let last = Math.max(-1, ...before.map(({ slot }) => slot));
  for (const row of coming) placed.push({ ...row, slot: (last += 1) });
  return keepsPlaces ? placed : placed.toSorted((a, b) => a.index - b.index);
}
