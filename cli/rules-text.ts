// The outcome of each rule of a decision, as a table.
import { table } from './text-layout.ts';

type Inputs = Readonly<Record<string, string | number | boolean | readonly string[] | null>>;

interface Rule {
  rule: string;
  outcome: string;
  inputs: Inputs;
}

export function rulesText(rules: readonly Rule[]): string {
  return table(
    [
      { title: 'RULE', value: ({ rule }) => rule },
      { title: 'RESULT', value: ({ outcome }) => OUTCOMES[outcome] ?? outcome },
      { title: 'DETAIL', value: ({ inputs }) => inputsText(inputs), max: 200 },
    ],
    rules,
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  passed: 'ok',
  failed: 'FAILED',
  not_asked: 'not checked',
};

function inputsText(inputs: Inputs): string {
  return Object.entries(inputs)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') || 'none' : String(value)}`)
    .join('; ');
}
