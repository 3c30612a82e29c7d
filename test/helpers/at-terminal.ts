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
  /** Called with all output so far, whenever there is more. */
  onOutput?(output: string): Promise<void>;
}

export async function atTerminal(
  words: readonly string[],
  { answer = '', columns, onOutput }: TerminalOptions = {},
): Promise<AtTerminal> {
  const program = [process.execPath, CLI_PROGRAM, ...words].map((word) => quoted(word)).join(' ');
  const command = columns === undefined ? program : `stty cols ${columns}; ${program}`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const part of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    const isAsked = output.includes('[y/N]');
    output += part;
    await onOutput?.(output);
    if (!isAsked && output.includes('[y/N]')) child.stdin.write(`${answer}\n`);
  }
  const exitCode = child.exitCode ?? ((await once(child, 'exit'))[0] as number);
  return { output, exitCode };
}
