// One setting: its names, help, allowed values and default.
import { integer } from './setting-values.ts';

export interface Setting<Value> {
  env: string;
  flag: string;
  argument: string;
  help: string;
  allowed: string;
  /** If all values are whole numbers, the least and the greatest of them. */
  range?: { min: number; max: number };
  /** The input control. A `choice` may accept more than its `choices`; `allowed` describes all values. */
  kind: 'text' | 'number' | 'choice' | 'list' | 'path';
  choices?: readonly string[];
  /** Contains a secret, which is never shown. */
  secret?: true;
  /** Returns undefined if the text is not allowed. */
  parse(text: string): Value | undefined;
  fallback: Value;
}

/** Declares a row with its precise type. */
export function setting<Value>(row: Setting<Value>): Setting<Value> {
  return row;
}

/** What the row of a setting says about its values if they are the whole numbers from `min` to `max`. */
export const wholeNumber = (
  min: number,
  max: number,
): Required<Pick<Setting<number>, 'allowed' | 'range' | 'parse'>> & { kind: 'number' } => ({
  allowed: `${min} to ${max}`,
  range: { min, max },
  kind: 'number',
  parse: integer(min, max),
});
