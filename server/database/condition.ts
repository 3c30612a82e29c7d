// A part of a statement together with the values that it names.
import type { Values } from './named-values.ts';

export interface Condition {
  sql: string;
  bind: Values;
}

/** All of them at once; true if there are none. */
export function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND ') || '1 = 1',
    bind: bindOf(...conditions),
  };
}

export function bindOf(...parts: readonly (Pick<Condition, 'bind'> | null)[]): Values {
  return Object.assign({}, ...parts.map((part) => part?.bind)) as Values;
}

/** Each condition whose value, by the name in `bind`, is given. */
export function given(conditions: Readonly<Record<string, string>>, bind: Values): Condition[] {
  return Object.entries(conditions)
    .filter(([name]) => bind[name] !== undefined && bind[name] !== null)
    .map(([name, sql]) => ({ sql, bind: { [name]: bind[name] } }));
}
