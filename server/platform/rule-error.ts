// Errors that also name the rule that a setting breaks, for pages in other languages. The message is one line.
import type { NamedRule } from '#server/wire/field-rules.ts';

export class RuleError extends Error {
  override readonly name: string = 'RuleError';
  readonly rule: NamedRule | undefined;

  constructor(message: string, rule: NamedRule | undefined, options?: ErrorOptions) {
    super(message, options);
    this.rule = rule;
  }
}

/** @returns undefined if the error names none */
export const ruleOfError = (error: unknown): NamedRule | undefined =>
  (error as { rule?: NamedRule } | null)?.rule;

/** What the operating system's code says about a file or folder. */
export function pathRule(error: unknown, path: string): NamedRule | undefined {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case undefined:
      return ruleOfError(error);
    case 'ENOENT':
      return { reason: 'path_missing', values: { path } };
    case 'EACCES':
    case 'EPERM':
      return { reason: 'path_not_permitted', values: { path } };
    case 'EISDIR':
      return { reason: 'not_a_file', values: { path } };
    default:
      return { reason: 'path_unusable', values: { path, code } };
  }
}
