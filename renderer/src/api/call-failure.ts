// Why a call to the service brought nothing, as the page shows it.
import { ApiError, type ErrorCode, type ErrorDetail } from '#server/wire/errors.ts';

export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  /** `unreachable`: no answer, or none that the service would give. */
  readonly code: ErrorCode | 'unreachable';
  readonly details: readonly ErrorDetail[];
  readonly requestId: string;

  constructor(cause: unknown, requestId: string) {
    super(cause instanceof ApiError ? cause.message : 'the server did not answer', { cause });
    this.code = cause instanceof ApiError ? cause.code : 'unreachable';
    this.details = (cause instanceof ApiError ? cause.details : undefined) ?? [];
    this.requestId = requestId;
  }
}

/** What a call rejected with; anything but a `CallFailure` is a mistake of the page and is thrown on. */
export function asCallFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  throw error;
}
