// One setting: its names, help, allowed values and default.

export interface Setting<Value> {
  env: string;
  flag: string;
  argument: string;
  help: string;
  allowed: string;
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
