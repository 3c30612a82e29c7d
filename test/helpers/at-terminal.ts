// Runs a command at a terminal of util-linux `script`, and answers its question.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CLI_PROGRAM } from './cli.ts';

interface AtTerminal {
  output: string;
  exitCode: number;
}

const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;

interface TerminalOptions {
  answer?: string;
  /** Width of the terminal. */
  columns?: number;
  /** Where input comes from instead of the terminal. */
  input?: string;
  /** Called with all output so far, whenever there is more. @param type presses keys */
  onOutput?(output: string, type: (keys: string) => void): Promise<void> | void;
}

export async function atTerminal(
  words: readonly string[],
  { answer = '', columns, input, onOutput }: TerminalOptions = {},
): Promise<AtTerminal> {
  const call = [process.execPath, CLI_PROGRAM, ...words].map((word) => quoted(word)).join(' ');
  const program = input === undefined ? call : `${call} < ${quoted(input)}`;
  const command = columns === undefined ? program : `stty cols ${columns}; ${program}`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const part of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    const isAsked = output.includes('[y/N]');
    output += part;
    await onOutput?.(output, (keys) => child.stdin.write(keys));
    if (!isAsked && output.includes('[y/N]')) child.stdin.write(`${answer}\n`);
  }
  const exitCode = child.exitCode ?? ((await once(child, 'exit'))[0] as number);
  return { output, exitCode };
}
