// The one place that prints: a JSON document or a field for scripts, or text for people.
import type { Command } from 'commander';
import { failureEnvelope, type ApiError } from '#server/wire/errors.ts';
import { CommandFailure, usageFailure } from './command-failure.ts';
import { commandIo } from './command-io.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { fieldsOf, selectedField, selectField, wantsJson } from './output-form.ts';
import { fileFailure } from './text-file.ts';
import { printable } from './text-layout.ts';

/** The result of a command that did its work. */
export interface Outcome {
  /** Members of the JSON document besides `ok: true`. */
  reply: object;
  text: string;
  exitCode?: number;
}

/** Added to a failure to print: a script that repeats the command would do its work twice. */
const DONE = 'the command itself succeeded';

/** Writes the outcome to stdout, and sets its exit code. @throws CommandFailure if the outcome cannot be printed */
export async function printOutcome(
  { reply, text, exitCode = EXIT_CODES.ok }: Outcome,
  command: Command,
): Promise<void> {
  const field = selectedField(command);
  const shown = wantsJson(command) ? JSON.stringify({ ok: true, ...reply }) : text;
  const output = field === null ? shown : fieldOf(reply, field, text);
  try {
    if (field === null || output !== '') await writeStdout(asLine(output));
  } catch (error) {
    const { code, message } = error as CommandFailure;
    // The verdict of `verify`, for example, is in the exit code as well.
    if (exitCode !== EXIT_CODES.ok) throw new CommandFailure(code, message, { exitCode });
    throw new CommandFailure(code, `${message}; ${DONE}`);
  }
  commandIo().setExitCode(exitCode);
}

/** @throws CommandFailure if there is no such field; the work is done then, so its text goes to stderr and is not lost */
function fieldOf(reply: object, field: string, text: string): string {
  const value = selectField({ ok: true, ...reply }, field);
  if (value !== undefined) return value;
  commandIo().stderr.write(asLine(text));
  throw usageFailure(
    `--output must be json, table, or one of ${fieldsOf(reply).join(', ')} (got ${field}); ${DONE}`,
  );
}

/**
 * @returns false if the reader, such as `head`, has closed the pipe
 * @throws CommandFailure
 */
export function writeStdout(output: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    commandIo().stdout.write(output, (error?: NodeJS.ErrnoException | null) => {
      if (error && error.code !== 'EPIPE')
        reject(fileFailure('invalid_request', 'cannot write to stdout', error));
      else resolve(!error);
    });
  });
}

/** Writes `error: message` to stderr, with JSON also the failure document to stdout. */
export function printFailure(error: ApiError, json: boolean): void {
  const io = commandIo();
  const { report = undefined, exitCode = EXIT_CODES.failure } = error instanceof CommandFailure ? error : {};
  if (json) io.stdout.write(asLine(JSON.stringify({ ...failureEnvelope(error), ...report?.fields })));
  else if (report) io.stdout.write(asLine(report.text));
  io.stderr.write(asLine(printable(`error: ${[error.message, ...furtherDetails(error)].join('; ')}`)));
  io.setExitCode(exitCode);
}

/** The details that the message does not contain; it is made of the first one, with or without the field. */
function furtherDetails({ message, details = [] }: ApiError): string[] {
  const further = details.filter((detail) => detail.message !== message);
  const lines = further.map((detail) => (detail.path ? `${detail.path}: ${detail.message}` : detail.message));
  return lines.filter((line) => line !== message);
}

function asLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
