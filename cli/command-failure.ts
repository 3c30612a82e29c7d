// How anything that goes wrong ends a command: an error code, one line of text and an exit code.
import { CommanderError } from 'commander';
import { ApiError, type ErrorCode } from '#server/wire/errors.ts';
import { maskPasswords } from '#server/platform/mask-passwords.ts';
import { EXIT_CODES } from './exit-codes.ts';

interface CommandFailureOptions {
  exitCode?: number;
  /** What there is to show besides the message: members of the JSON document, and the same as text. */
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

/**
 * Errors whose message is written for the user, thrown by modules that know nothing of commands. By name, as
 * importing the classes would bring the service along into commands that start faster without it.
 */
const FOR_THE_USER: Readonly<Record<string, { code: ErrorCode; exitCode?: number }>> = {
  ConfigError: { code: 'invalid_request' },
  AddressError: { code: 'invalid_request' },
  DataDirectoryError: { code: 'unavailable' },
  NewerDatabaseError: { code: 'unavailable' },
  UnusableDatabaseError: { code: 'unavailable' },
  SealError: { code: 'unavailable' },
  BackupError: { code: 'invalid_request' },
  NoStableIdentityError: { code: 'invalid_request' },
  PublicKeyFormatError: { code: 'invalid_request' },
  CannotDecryptError: { code: 'invalid_request' },
  DistrustListError: { code: 'invalid_request' },
  NotALicenseFileError: { code: 'invalid_request', exitCode: EXIT_CODES.notALicenseFile },
};

/** Gives whatever was thrown its code and, as a `CommandFailure`, its exit code. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof CommanderError) return usageFailure(usageMessage(thrown));
  if (!(thrown instanceof Error)) return new CommandFailure('internal_error', String(thrown));
  const { code, ...options } = FOR_THE_USER[thrown.name] ?? { code: 'internal_error' };
  return new CommandFailure(code, maskPasswords(thrown.message), options);
}

function usageMessage({ code, message }: CommanderError): string {
  // Commander prints the help instead of a message when a group such as `license` is given no command.
  if (code === 'commander.help') return 'a command is missing; the help lists them';
  return maskPasswords(message.replace(/^error: /u, '').replaceAll('\n', ' '));
}
