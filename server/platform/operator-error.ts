// Failures that an administrator can fix.
import type { ErrorCode } from '#server/wire/errors.ts';

/** Why a server cannot start, in categories that determine the remedy. */
export type RefusalCause = 'address' | 'data_directory' | 'database' | 'newer_database' | 'settings';

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
}
