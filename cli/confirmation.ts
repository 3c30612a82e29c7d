// Asks the person at the terminal a question.
import { createInterface } from 'node:readline';
import { commandIo } from './command-io.ts';

/** Whether somebody can read a question and answer it; stdout may be a file. */
export function hasTerminal(): boolean {
  const { stdin, stderr } = commandIo();
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** On stderr: stdout is for the outcome. @returns false also where the question is interrupted */
export async function confirms(question: string): Promise<boolean> {
  const { stdin, stderr } = commandIo();
  const lines = createInterface({ input: stdin, output: stderr });
  const answer = await new Promise<string>((resolve) => {
    // Ctrl-C or Ctrl-D.
    lines.once('close', () => resolve(''));
    lines.question(`${question} [y/N] `, resolve);
  });
  lines.close();
  return /^y(?:es)?$/iu.test(answer.trim());
}
