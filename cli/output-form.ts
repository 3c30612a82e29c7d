// `--output`: the whole reply as JSON, readable text, or the bare value of one field.
import { type Command, InvalidArgumentError, Option } from 'commander';

const FIELD = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*$/u;
const NOT_A_FIELD = ['json', 'table', 'text'];

export function addOutputOptions(program: Command): void {
  program
    .option('--json', 'print one JSON document on stdout and nothing else; same as --output json')
    .addOption(
      new Option(
        '--output <form>',
        'form of the output: json, table (default), or a field of the JSON document, such as license_key',
      )
        .argParser(outputForm)
        .conflicts('json'),
    );
}

function outputForm(text: string): string {
  if (FIELD.test(text)) return text;
  throw new InvalidArgumentError('must be json, table, or the name of a field');
}

function outputOf(command: Command): string {
  const { json = false, output } = command.optsWithGlobals<{ json?: boolean; output?: string }>();
  return json ? 'json' : (output ?? 'table');
}

export function wantsJson(command: Command): boolean {
  return outputOf(command) === 'json';
}

/** @returns null unless `--output` names a field */
export function selectedField(command: Command): string | null {
  const output = outputOf(command);
  return NOT_A_FIELD.includes(output) ? null : output;
}

/** For failures: wrong usage leaves no parsed options to ask. */
export function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  const ours = end === -1 ? words : words.slice(0, end);
  return ours.some(
    (word, at) =>
      word === '--json' || word === '--output=json' || (word === '--output' && ours[at + 1] === 'json'),
  );
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !(key in found)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => fieldText(value)).join('\n');
}

function fieldText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return lines(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}

/** Looks at the top level first, then in lists (one line for each item), then in the other members. */
export function selectField(reply: object, field: string): string | undefined {
  const path = field.split('.');
  const direct = valueAt(reply, path);
  if (direct !== undefined) return fieldText(direct);
  for (const member of Object.values(reply) as unknown[]) {
    if (Array.isArray(member)) {
      const values = member.map((item) => valueAt(item, path));
      if (values.some((value) => value !== undefined)) return lines(values);
    } else {
      const value = valueAt(member, path);
      if (value !== undefined) return fieldText(value);
    }
  }
  return Object.values(reply).some((member) => Array.isArray(member) && member.length === 0) ? '' : undefined;
}

/** For the error that names them. */
export function fieldsOf(reply: object): string[] {
  const members = Object.values(reply).map(
    (member: unknown) => (Array.isArray(member) ? member[0] : member) as unknown,
  );
  const inside = members.filter((member) => typeof member === 'object' && member !== null);
  return [...new Set([...Object.keys(reply), ...inside.flatMap((member) => Object.keys(member as object))])];
}
