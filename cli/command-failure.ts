// How anything that goes wrong ends a command: an error code, one line of text and an exit code.
import { CommanderError } from 'commander';
import { ApiError, type ErrorCode } from '#server/wire/errors.ts';
import { maskPasswords } from '#server/platform/mask-passwords.ts';
import { OperatorError } from '#server/platform/operator-error.ts';
import { EXIT_CODES } from './exit-codes.ts';

interface CommandFailureOptions {
  exitCode?: number;
  /** Shown in addition to the message: members of the JSON document, and the same as text. */
  report?: { fields: object; text: string };
}

/** A failure that the command line itself finds; the codes are those of the service. */
export class CommandFailure extends ApiError {
  readonly exitCode: number;
  readonly report: CommandFailureOptions['report'];

  constructor(code: ErrorCode, message: string, options: CommandFailureOptions = {}) {
    super(code, message);
    this.exitCode = options.exitCode ?? EXIT_CODES.failure;
    this.report = options.report;
  }
}

/** The command line as typed makes no sense. */
export function usageFailure(message: string): CommandFailure {
  return new CommandFailure('invalid_request', message, { exitCode: EXIT_CODES.usage });
}

/** Gives a thrown value its code and, as a `CommandFailure`, its exit code. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof CommanderError) return usageFailure(usageMessage(thrown));
  if (!(thrown instanceof Error)) return new CommandFailure('internal_error', String(thrown));
  const message = maskPasswords(thrown.message);
  if (!(thrown instanceof OperatorError)) return new CommandFailure('internal_error', message);
  return new CommandFailure(thrown.code, message, { exitCode: thrown.exitCode });
}

function usageMessage({ code, message }: CommanderError): string {
  // Commander prints the help instead of a message when a group such as `license` is given no command.
  if (code === 'commander.help') return 'a command is missing; the help lists them';
  return maskPasswords(message.replace(/^error: /u, '').replaceAll('\n', ' '));
}
