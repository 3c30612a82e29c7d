// Why an API call failed, as the page shows it.
import { ApiError, type ErrorCode, type ErrorDetail } from '#server/wire/errors.ts';

export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  /** `unreachable`: no response, or a response that is not from the server. */
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

/** In the failure note, from where it describes the refused field. */
export const messageId = ({ requestId }: CallFailure) => `failure-${requestId}`;
export const detailId = (failure: CallFailure, at: number) => `${messageId(failure)}-${at}`;

/** @returns for `refused` of a field: the ID of what the server says about it */
export function refusalOf(failure: CallFailure | null, isOfField: (path: string) => boolean) {
  const at = failure?.details.findIndex(({ path }) => isOfField(path)) ?? -1;
  return failure && at >= 0 ? detailId(failure, at) : undefined;
}

/** Converts the error of a rejected call. Anything but a `CallFailure` is a bug in the page and is rethrown. */
export function asCallFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  throw error;
}

/** Whether it is unknown if the server made the change: its reply, or the database's, was lost. */
export const isLostReply = (code: CallFailure['code']) => code === 'unreachable' || code === 'unavailable';
export const isWithoutReply = (error: unknown) => isLostReply(asCallFailure(error).code);
