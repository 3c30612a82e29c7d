// Which columns of a list are shown, and how wide the inspector beside it is, without a browser.
import { describe, expect, it, vi } from 'vitest';
import type { GridColumn } from '../../renderer/src/components/grid-column.ts';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { fittingColumns, isChosen, minWidth, parseListView } =
  await import('../../renderer/src/components/list-view.ts');
const { inspectorWidth } = await import('../../renderer/src/components/inspector-width.ts');

const column = (id: string, width: string, rest: Partial<GridColumn> = {}): GridColumn => ({
  id,
  label: id,
  width,
  ...rest,
});
const COLUMNS = [
  column('holder', 'minmax(112px, 1.4fr)', { narrow: 'title' }),
  column('key', '128px', { priority: 2 }),
  column('plan', 'clamp(90px, 9vw, 150px)', { priority: 1 }),
  column('state', '112px'),
];

describe('columns', () => {
  it.each([
    ['120px', 120],
    ['minmax(160px, 2fr)', 160],
    ['minmax(90px, 150px)', 90],
    ['1fr', 0],
  ])('need at least %s: %d', (width, expected) => {
    expect(minWidth(column('any', width))).toBe(expected);
  });

  it.each([
    [442, ['holder', 'key', 'plan', 'state']],
    [441, ['holder', 'key', 'state']],
    [351, ['holder', 'state']],
    [10, ['holder', 'state']],
  ])('give way in a room of %d pixels, the least important first', (room, expected) => {
    expect(fittingColumns(COLUMNS, room).map(({ id }) => id)).toEqual(expected);
  });

  it('that name a row give way to nothing', () => {
    const naming = [column('holder', '200px', { narrow: 'title', priority: 1 })];
    expect(fittingColumns(naming, 100)).toEqual(naming);
  });

  it.each([
    ['a naming column that was hidden', { narrow: 'title' }, { any: false }, true],
    ['a column that was not chosen', {}, {}, true],
    ['a hidden column', {}, { any: false }, false],
    ['an optional column that was not chosen', { optional: true }, {}, false],
    ['an optional column that was chosen', { optional: true }, { any: true }, true],
  ] as const)('%s', (_case, rest, columns, expected) => {
    expect(isChosen(column('any', '1fr', rest), { density: 'standard', columns })).toBe(expected);
  });
});

describe('what the browser kept', () => {
  const initial = { density: 'standard', columns: {} };
  it.each([
    ['nothing', null, initial],
    ['no JSON', '{', initial],
    ['something else', '[1]', initial],
    ['an unknown density', '{"density":"huge","columns":{}}', initial],
    ['no columns', '{"density":"compact"}', { density: 'compact', columns: {} }],
    ['columns', '{"columns":{"a":true,"b":false,"c":1}}', { ...initial, columns: { a: true, b: false } }],
  ])('%s', (_case, text, expected) => {
    expect(parseListView(text)).toEqual(expected);
  });
});

describe('the inspector', () => {
  it.each([
    [300, 1440, 440],
    [500, 1440, 500],
    [720, 1440, 560],
    [560, 1180, 490],
    [560, 1100, 440],
    [560, 950, 440],
  ])('that is %d px wide in a window of %d px gets %d px', (wanted, windowPx, expected) => {
    expect(inspectorWidth(wanted, windowPx)).toBe(expected);
  });
});
