// A part of a statement with its named values.
import type { Values } from './named-values.ts';

export interface Condition {
  sql: string;
  bind: Values;
}

/** Combines conditions with AND. Without conditions, the result is always true. */
export function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND ') || '1 = 1',
    bind: bindOf(...conditions),
  };
}

export function bindOf(...parts: readonly (Pick<Condition, 'bind'> | null)[]): Values {
  return Object.assign({}, ...parts.map((part) => part?.bind)) as Values;
}

/** Selects the conditions whose value in `bind` is set. */
export function given(conditions: Readonly<Record<string, string>>, bind: Values): Condition[] {
  return Object.entries(conditions)
    .filter(([name]) => bind[name] !== undefined && bind[name] !== null)
    .map(([name, sql]) => ({ sql, bind: { [name]: bind[name] } }));
}

/** The pattern of texts that contain this one, for `LIKE … ESCAPE '\'`. */
export const likePart = (text: string) => `%${text.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
