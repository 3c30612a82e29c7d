// Encodes and decodes cursors: the position at which a page ended, as text from which the next page continues.
import { type ApiError, refusedField } from '#server/wire/errors.ts';

/** A field of a cursor: its text form and how it is parsed. */
interface Field<Value> {
  pattern: string;
  parse(text: string): Value;
}

/** An ID, a timestamp or a rank. */
export const NUMBER: Field<number> = { pattern: String.raw`\d{1,15}`, parse: Number };

/** A timestamp that may be before 1970. Only the last field may be optional. */
export const OPTIONAL_MOMENT: Field<number | undefined> = {
  pattern: String.raw`-?\d{1,16}`,
  parse: (text) => (text === '' ? undefined : Number(text)),
};

export function oneOf<Name extends string>(...names: readonly Name[]): Field<Name> {
  return { pattern: names.join('|'), parse: (text) => text as Name };
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type Position<Shape extends Fields> = { [Name in keyof Shape]: ReturnType<Shape[Name]['parse']> };

export interface Cursor<Shape extends Fields> {
  /** @param position may have additional fields, so a whole row can be passed */
  write(position: Position<Shape>): string;
  /** Returns null for the first page. @throws ApiError `invalid_request` for a cursor that no page returned */
  read(cursor: string | undefined): Position<Shape> | null;
}

export function malformedCursor(problem = 'is not one that a page returned'): ApiError {
  return refusedField('cursor', problem);
}

/** @param fields in the order in which they are written */
export function cursorOf<Shape extends Fields>(fields: Shape, problem?: string): Cursor<Shape> {
  const entries = Object.entries(fields);
  const groups = entries.map(([, field], index) => {
    const group = `${index === 0 ? '' : String.raw`\.`}(${field.pattern})`;
    return field === OPTIONAL_MOMENT ? `(?:${group})?` : group;
  });
  const shape = new RegExp(`^${groups.join('')}$`, 'u');
  return {
    write(position) {
      const values = entries.map(([name]) => position[name]);
      return values.filter((value) => value !== undefined).join('.');
    },
    read(cursor) {
      if (cursor === undefined) return null;
      const texts = shape.exec(cursor);
      if (!texts) throw malformedCursor(problem);
      const values = entries.map(([name, field], index) => [name, field.parse(texts[index + 1] ?? '')]);
      return Object.fromEntries(values) as Position<Shape>;
    },
  };
}
