import { describe, expect, test } from 'vitest';
import { displayWidth, truncate } from '../../cli/display-width.ts';
import { block, day, instant, listing, printable, shownOnce, table } from '../../cli/text-layout.ts';

interface Row {
  id: number;
  name: string | null;
  plan: string;
}

const COLUMNS = [
  { title: 'ID', value: (row: Row) => row.id },
  { title: 'NAME', value: (row: Row) => row.name, max: 8 },
  { title: 'PLAN', value: (row: Row) => row.plan },
];

describe('a table', () => {
  test('aligns columns, numbers to the right, and cuts long values', () => {
    const rows = [
      { id: 7, name: 'Nováková & Co', plan: 'trial' },
      { id: 12, name: null, plan: 'standard' },
    ];
    expect(table(COLUMNS, rows)).toBe(
      ['ID  NAME      PLAN', ' 7  Novákov…  trial', '12  –         standard'].join('\n'),
    );
  });

  test('stays straight with characters of two columns', () => {
    const rows = [
      { id: 1, name: '株式会社', plan: 'a' },
      { id: 2, name: '株式会社会', plan: 'b' },
      { id: 3, name: 'Ltd', plan: 'c' },
    ];
    const ends = table(COLUMNS, rows).split('\n').slice(1).map(displayWidth);
    expect(new Set(ends).size).toBe(1);
  });
});

test('a table shrinks its widest column to the width of the terminal, but no key', () => {
  const columns = [
    { title: 'KEY', value: () => '7K3QX-9M2TC-0AB1D-4EFGH-JKMNP' },
    { title: 'HOLDER', value: (row: Row) => row.name, max: 32 },
    { title: 'PLAN', value: (row: Row) => row.plan, max: 20 },
  ];
  const rows = [{ id: 1, name: 'a holder with a very long name', plan: 'professional' }];
  const widthIn = (width: number) => Math.max(...table(columns, rows, width).split('\n').map(displayWidth));
  expect(widthIn(200)).toBe(29 + 2 + 30 + 2 + 12);
  expect(widthIn(60)).toBe(60);
  expect(table(columns, rows, 60)).toContain('a holder with …  professio');
  expect(table(columns, rows, 10)).toContain('7K3QX-9M2TC-0AB1D-4EFGH-JKMNP  a holde…  profess…');
});

test.each([
  ['', 0],
  ['abc', 3],
  ['e\u0301', 1],
  ['株式', 4],
  ['👩‍👩‍👧', 2],
  ['Ａ', 2],
])('%j is as wide as %i columns', (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 5, 'abcd…'],
  ['株式会社', 8, '株式会社'],
  ['株式会社', 6, '株式…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
])('%j in %i columns is %j', (text, max, cut) => {
  expect(truncate(text, max)).toBe(cut);
});

test('a block aligns values under each other', () => {
  expect(
    block([
      ['Id', 1],
      ['Holder', 'Acme'],
      ['Email', null],
      ['Features', ''],
    ]),
  ).toBe(['Id:        1', 'Holder:    Acme', 'Email:     –', 'Features:  –'].join('\n'));
});

test('a list says when it is empty, and how to go on', () => {
  const list = listing('No rows.', COLUMNS);
  expect(list({ items: [], next_cursor: null })).toBe('No rows.');
  expect(list({ items: [{ id: 1, name: 'a', plan: 'b' }], next_cursor: 'c2' })).toBe(
    'ID  NAME  PLAN\n 1  a     b\n\nNext page: --cursor c2',
  );
});

test('text from elsewhere cannot steer the terminal', () => {
  expect(printable('a\u001b[2Jb\r\nc\u009bd\u202ee')).toBe('a [2Jb c d e');
  expect(table([{ title: 'X', value: (row: string) => row }], ['a\nb'])).toBe('X\na b');
});

test('a secret comes with the sentence that it is shown once', () => {
  expect(shownOnce('Token', 'ldt_x')).toContain('Token:  ldt_x\nStore it now: it is not shown again');
});

test('timestamps are cut to what people read', () => {
  expect(day('2027-01-31T12:00:00.000Z')).toBe('2027-01-31');
  expect(instant('2027-01-31T12:00:00.000Z')).toBe('2027-01-31 12:00:00 UTC');
  expect(day(null)).toBe('–');
  expect(instant(null)).toBe('–');
});
