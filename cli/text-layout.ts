// Tables, blocks and dates for people who read the output.
import { displayWidth, truncate } from './display-width.ts';

type Value = string | number | null;

/** What stands where there is no value. */
const NOTHING = '–';

/** Controls, line breaks and marks that reverse the reading direction: text from elsewhere must not steer a terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** The text on one line, safe for a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, ' ');
}

export interface Column<Row> {
  title: string;
  value: (row: Row) => Value;
  /** Longer values are cut to this width. */
  max?: number;
}

/** Rows under titles; numbers are aligned to the right. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const laidOut = columns.map(({ title, value, max = Infinity }) => {
    const values = rows.map(value);
    const cells = [title, ...values.map((cell) => truncate(shown(cell), max))];
    return {
      cells,
      width: Math.max(...cells.map(displayWidth)),
      right: values.length > 0 && values.every((cell) => typeof cell === 'number'),
    };
  });
  const lines = Array.from({ length: rows.length + 1 }, (_line, at) =>
    laidOut
      .map(({ cells, width, right }) => pad(cells[at] ?? '', width, right))
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}

/** One object, a line for each member. */
export function block(members: readonly (readonly [name: string, value: Value])[]): string {
  const width = Math.max(...members.map(([name]) => displayWidth(name))) + 1;
  return members.map(([name, value]) => `${pad(`${name}:`, width)}  ${shown(value)}`).join('\n');
}

/** A secret that nobody can be shown again. */
export function shownOnce(name: string, secret: string): string {
  return `${block([[name, secret]])}\nIt is shown this once and cannot be recovered: keep it safe.`;
}

/** How one page of a list reads; `empty` is the sentence for a list without items. */
export function listing<Item>(
  empty: string,
  columns: readonly Column<Item>[],
): (page: { items: readonly Item[]; next_cursor: string | null }) => string {
  return ({ items, next_cursor: next }) => {
    if (items.length === 0) return empty;
    const more = next === null ? '' : `\n\nThere are more: --cursor ${printable(next)}`;
    return table(columns, items) + more;
  };
}

/** `2027-01-31` of a timestamp. */
export function day(timestamp: string | null): string {
  return timestamp === null ? NOTHING : timestamp.slice(0, 10);
}

/** `2027-01-31 12:00:00 UTC` of a timestamp. */
export function instant(timestamp: string | null): string {
  return timestamp === null ? NOTHING : `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;
}

function shown(value: Value): string {
  return value === null || value === '' ? NOTHING : printable(String(value));
}

function pad(text: string, width: number, right = false): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? space + text : text + space;
}
