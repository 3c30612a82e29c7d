import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CSV_SEPARATORS, csvLine, csvText } from '#server/wire/csv.ts';

describe('a line of CSV', () => {
  it.each([
    [['a', 'b'], 'a,b\r\n'],
    [['a,b', 'c'], '"a,b",c\r\n'],
    [['say "so"'], '"say ""so"""\r\n'],
    [['two\r\nlines', 'two\nlines'], '"two\r\nlines","two\nlines"\r\n'],
    [[null, 0, -5, ''], ',0,-5,\r\n'],
    [['Nováček; 東京', ' x '], 'Nováček; 東京, x \r\n'],
  ])('%j', (cells, line) => {
    expect(csvLine(cells)).toBe(line);
  });

  it.each([
    '=1+1',
    '+420 123',
    '-5',
    '@SUM(A1)',
    '\tx',
    '\rx',
    '\nx',
    "'=1+1",
    "''@x",
    '=cmd|"/c calc"!A1',
    '＝1+1',
    '＋420 123',
    '－5',
    '＠SUM(A1)',
    "'＝1+1",
  ])('holds no formula: %j', (text) => {
    const [[cell]] = parse(csvLine([text])) as [[string]];
    expect(cell).toBe(`'${text}`);
    expect(csvText(cell)).toBe(text);
  });

  it.each([
    ["x;=cmd|'/C calc'!A0;y", "x;'=cmd|'/C calc'!A0;y"],
    ['x\t+1', "x\t'+1"],
    ['two\n@lines', "two\n'@lines"],
    ['x;"=1"', `x;'"=1"`],
    ["x;'=1", "x;''=1"],
    ['x;＝1', "x;'＝1"],
    ['=1;=1', "'=1;'=1"],
  ])('holds no formula after a list separator of some countries: %j', (text, guarded) => {
    const [[cell]] = parse(csvLine([text])) as [[string]];
    expect(cell).toBe(guarded);
    expect(csvText(cell)).toBe(text);
  });

  it.each(["'", "'x", "O'Neill", 'a=b', '1-1', 'a; -5', ''])('leaves other text unchanged: %j', (text) => {
    expect(csvLine([text])).toBe(`${text}\r\n`);
    expect(csvText(text)).toBe(text);
  });

  it.each([
    [['a;b', 'c,d', 'e'], '"a;b";c,d;e\r\n'],
    [[null, 1.5, -0.25, 3, ''], ';1,5;-0,25;3;\r\n'],
    [['=1', 'x;=1', 'x,=1', 'x,"=1"', 'x\t=1'], `'=1;"x;'=1";x,'=1;"x,'""=1""";x\t'=1\r\n`],
  ])('with semicolons: %j', (cells, line) => {
    expect(csvLine(cells, 'semicolon')).toBe(line);
  });

  it('has decimal points beside commas, and no apostrophe after a comma, which is inside quotes', () => {
    expect(csvLine([1.5, 'x,=1'])).toBe('1.5,"x,=1"\r\n');
    expect(csvText("x,'=1")).toBe("x,'=1");
  });

  it.each(['comma', 'semicolon'] as const)(
    'is read back exactly as it was written, with a %s',
    (separator) => {
      const delimiter = CSV_SEPARATORS[separator];
      const cells = fc.array(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'="\',;\r\n\t-a ＝＋') })),
        {
          minLength: 2,
          maxLength: 5,
        },
      );
      fc.assert(
        fc.property(cells, (texts) => {
          const line = csvLine(texts, separator);
          const [read = []] = parse(line, { delimiter, record_delimiter: '\r\n' }) as string[][];
          expect(read.map((cell) => csvText(cell, separator))).toEqual(texts);
          expect(read.some((cell) => /^[=+\-@\t\r\n＝＋－＠]/u.test(cell))).toBe(false);
          // Elsewhere, a line is split at other separators, and its quotes mean nothing.
          const others = separator === 'comma' ? /[;\t\r\n]/u : /[,\t\r\n]/u;
          const parts = csvLine(['', ...texts], separator).split(others);
          expect(parts.filter((part) => /^"*[=+\-@＝＋－＠]/u.test(part))).toEqual([]);
        }),
      );
    },
  );
});
