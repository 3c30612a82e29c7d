// Failures that the person who runs the program can do something about.
import type { ErrorCode } from '#server/wire/errors.ts';

/** Why a server cannot start, as far as that decides what can be done about it. */
export type RefusalCause = 'address' | 'data_directory' | 'database' | 'newer_database' | 'settings';

/**
 * Ends a command or a start with one line instead of a stack: its message says what is wrong and how to fix it.
 * Subclasses keep a `name` of their own, which logs show and other processes see.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
  /** What `--json` shows. */
  readonly code: ErrorCode = 'invalid_request';
  readonly exitCode: number = 1;
  /** Why no server can start until it is fixed; null if the next start may succeed. */
  readonly refusal: RefusalCause | null = null;
}
