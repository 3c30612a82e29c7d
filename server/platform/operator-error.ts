// Failures that an administrator can fix.
import type { ErrorCode } from '#server/wire/errors.ts';
import type { NamedRule } from '#server/wire/field-rules.ts';

/** Why a server cannot start, in categories that determine the remedy. */
export type RefusalCause = 'address' | 'data_directory' | 'database' | 'newer_database' | 'settings';

export interface OperatorErrorOptions extends ErrorOptions {
  /** What the message is about, if it is about a setting. */
  rule?: NamedRule | undefined;
}

/**
 * Ends a command or a start with one line instead of a stack trace: what is wrong and how to fix it.
 * Subclasses set `name`, which appears in logs and is read by other processes.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
  /** Shown with `--json`. */
  readonly code: ErrorCode = 'invalid_request';
  readonly exitCode: number = 1;
  /** Why a server cannot start until this is fixed; null if the next start may succeed. */
  readonly refusal: RefusalCause | null = null;
  readonly rule: NamedRule | undefined;

  constructor(message: string, { rule, ...options }: OperatorErrorOptions = {}) {
    super(message, options);
    this.rule = rule;
  }
}
