// The one place that prints: a JSON document for scripts, or text for people.
import { failureEnvelope, type ApiError } from '#server/wire/errors.ts';
import { CommandFailure } from './command-failure.ts';
import { commandIo } from './command-io.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { printable } from './text-layout.ts';

/** What a command has to say when it did its work. */
export interface Outcome {
  /** Members of the JSON document besides `ok: true`. */
  reply: object;
  text: string;
  exitCode?: number;
}

/** Writes the outcome to stdout, and sets its exit code. */
export function printOutcome({ reply, text, exitCode = EXIT_CODES.ok }: Outcome, json: boolean): void {
  const io = commandIo();
  writeLine(io.stdout, json ? JSON.stringify({ ok: true, ...reply }) : text);
  io.setExitCode(exitCode);
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

/** What the message does not say already: it is made of the first detail. */
function furtherDetails({ message, details = [] }: ApiError): string[] {
  const lines = details.map((detail) => (detail.path ? `${detail.path}: ${detail.message}` : detail.message));
  return lines.filter((line) => line !== message);
}

function writeLine(stream: NodeJS.WritableStream, text: string): void {
  stream.write(text.endsWith('\n') ? text : `${text}\n`);
}
