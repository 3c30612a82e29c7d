// Asks the person at the terminal a question.
import { createInterface } from 'node:readline';

/** Whether somebody can read a question and answer it; stdout may be a file. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** On stderr: stdout is for the outcome. @returns false also where the question is interrupted */
export async function confirms(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    // Ctrl-C or Ctrl-D.
    lines.once('close', () => resolve(''));
    lines.question(`${question} [y/N] `, resolve);
  });
  lines.close();
  return /^y(?:es)?$/iu.test(answer.trim());
}
