// Tables, blocks and dates for people who read the output.
import { commandIo } from './command-io.ts';
import { displayWidth, truncate } from './display-width.ts';

type Value = string | number | null;

/** Shown for a missing value. */
const NOTHING = '–';

/** Control characters, line breaks and text direction controls: foreign text must not control the terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** The text on one line, safe for a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, ' ');
}

const GAP = '  ';
/** A column does not shrink below this. */
const LEAST_WIDTH = 8;

export interface Column<Row> {
  title: string;
  value: (row: Row) => Value;
  /** Longer values are truncated to this width, and further in a narrow terminal. */
  max?: number;
  /** Left out if the table does not fit the terminal otherwise. */
  wideOnly?: true;
}

/** Rows under titles; numbers are right-aligned. @param width of the terminal, which the table fits if its columns can shrink */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width = terminalWidth(),
): string {
  const laidOut = columns.map((column) => layOut(column, rows));
  const isTooWide = totalOf(laidOut, 'least') > width;
  const dropped = isTooWide ? columns.findLast(({ wideOnly }) => wideOnly === true) : undefined;
  if (dropped) {
    const rest = columns.filter((column) => column !== dropped);
    return table(rest, rows, width);
  }
  const widths = fittingWidths(laidOut, width);
  const lines = Array.from({ length: rows.length + 1 }, (_line, at) =>
    laidOut
      .map(({ cells, right }, column) => {
        const own = widths[column] ?? 0;
        return pad(truncate(cells[at] ?? '', own), own, right);
      })
      .join(GAP)
      .trimEnd(),
  );
  return lines.join('\n');
}

function layOut<Row>({ title, value, max = Infinity }: Column<Row>, rows: readonly Row[]) {
  const values = rows.map(value);
  const cells = [title, ...values.map((cell) => truncate(shown(cell), max))];
  const width = Math.max(...cells.map(displayWidth));
  return {
    cells,
    width,
    least: max === Infinity ? width : Math.min(width, Math.max(displayWidth(title), LEAST_WIDTH)),
    right: values.length > 0 && values.every((cell) => typeof cell === 'number'),
  };
}

function totalOf(columns: readonly { width: number; least: number }[], name: 'width' | 'least'): number {
  return columns.reduce((sum, column) => sum + column[name], GAP.length * (columns.length - 1));
}

/** Shrinks the widest column that may shrink until the table fits, or none is left. */
function fittingWidths(columns: readonly { width: number; least: number }[], width: number): number[] {
  const widths = columns.map((column) => column.width);
  for (let excess = totalOf(columns, 'width') - width; excess > 0; excess -= 1) {
    const shrinkable = widths.map((own, at) => (own > (columns[at]?.least ?? own) ? own : 0));
    const widest = Math.max(...shrinkable);
    if (widest === 0) break;
    widths[shrinkable.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/** Files and pipes get the whole table. */
function terminalWidth(): number {
  const { isTTY = false, columns = 0 } = commandIo().stdout;
  return isTTY && columns > 0 ? columns : Infinity;
}

/** One object, a line for each member. */
export function block(members: readonly (readonly [name: string, value: Value])[]): string {
  const width = Math.max(...members.map(([name]) => displayWidth(name))) + 1;
  return members.map(([name, value]) => `${pad(`${name}:`, width)}  ${shown(value)}`).join('\n');
}

/** A secret that cannot be shown again. */
export function shownOnce(name: string, secret: string): string {
  return `${block([[name, secret]])}\nStore it now: it is not shown again.`;
}

/** Formats one page of a list. @param empty the sentence for an empty list */
export function listing<Item>(
  empty: string,
  columns: readonly Column<Item>[],
): (page: { items: readonly Item[]; next_cursor: string | null }) => string {
  return ({ items, next_cursor: next }) => {
    if (items.length === 0) return empty;
    const more = next === null ? '' : `\n\nNext page: --cursor ${printable(next)}`;
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
