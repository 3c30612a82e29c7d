// The one place that prints: a JSON document or a field for scripts, or text for people.
import type { Command } from 'commander';
import { failureEnvelope, type ApiError } from '#server/wire/errors.ts';
import { CommandFailure, usageFailure } from './command-failure.ts';
import { commandIo } from './command-io.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { fieldsOf, selectedField, selectField, wantsJson } from './output-form.ts';
import { printable } from './text-layout.ts';

/** The result of a command that did its work. */
export interface Outcome {
  /** Members of the JSON document besides `ok: true`. */
  reply: object;
  text: string;
  exitCode?: number;
}

/** Writes the outcome to stdout, and sets its exit code. */
export function printOutcome({ reply, text, exitCode = EXIT_CODES.ok }: Outcome, command: Command): void {
  const io = commandIo();
  const field = selectedField(command);
  if (field !== null) printField(reply, field, text);
  else writeLine(io.stdout, wantsJson(command) ? JSON.stringify({ ok: true, ...reply }) : text);
  io.setExitCode(exitCode);
}

/** @throws CommandFailure if there is no such field; the work is done then, so its text goes to stderr and is not lost */
function printField(reply: object, field: string, text: string): void {
  const io = commandIo();
  const value = selectField({ ok: true, ...reply }, field);
  if (value === undefined) {
    writeLine(io.stderr, text);
    throw usageFailure(
      `--output must be json, table, or one of ${fieldsOf(reply).join(', ')} (got ${field}); the command itself succeeded`,
    );
  }
  if (value !== '') writeLine(io.stdout, value);
}

/** Writes `error: message` to stderr, with JSON also the failure document to stdout. */
export function printFailure(error: ApiError, json: boolean): void {
  const io = commandIo();
  const { report = undefined, exitCode = EXIT_CODES.failure } = error instanceof CommandFailure ? error : {};
  if (json) writeLine(io.stdout, JSON.stringify({ ...failureEnvelope(error), ...report?.fields }));
  else if (report) writeLine(io.stdout, report.text);
  writeLine(io.stderr, printable(`error: ${[error.message, ...furtherDetails(error)].join('; ')}`));
  io.setExitCode(exitCode);
}

/** The details that the message does not contain; it is made of the first one. */
function furtherDetails({ message, details = [] }: ApiError): string[] {
  const lines = details.map((detail) => (detail.path ? `${detail.path}: ${detail.message}` : detail.message));
  return lines.filter((line) => line !== message);
}

function writeLine(stream: NodeJS.WritableStream, text: string): void {
  stream.write(text.endsWith('\n') ? text : `${text}\n`);
}
