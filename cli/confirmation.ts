// Asks the person at the terminal before something is done that cannot be undone.
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { CommandFailure, usageFailure } from './command-failure.ts';
import { commandIo } from './command-io.ts';

/** Whether a person can read a question and answer it; stdout may be a file. */
export function hasTerminal(): boolean {
  const { stdin, stderr } = commandIo();
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** On stderr: stdout is for the outcome. @returns false also if the question is interrupted */
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

export function addConfirmation(command: Command, { required = false } = {}): Command {
  return command.option(
    '--yes',
    required
      ? 'do not ask for confirmation; required without a terminal'
      : 'do not ask for confirmation; scripts are never asked',
  );
}

interface ConfirmOptions {
  /** Without a terminal, `--yes` has to be given. Never for commands of the contract: scripts rely on them. */
  required?: boolean;
}

/** @throws CommandFailure unless `--yes` is given, a person at the terminal agrees, or a script runs the command */
export async function confirmFirst(
  command: Command,
  question: string,
  { required = false }: ConfirmOptions = {},
): Promise<void> {
  if (command.opts<{ yes?: boolean }>().yes === true) return;
  const { stdin, stdout } = commandIo();
  if (stdin.isTTY === true && stdout.isTTY === true) {
    if (await confirms(question)) return;
    throw new CommandFailure('invalid_request', `${command.name()} canceled; nothing has changed`);
  }
  if (required) {
    throw usageFailure(
      `${command.name()} asks for confirmation, and there is no terminal to ask on; add --yes`,
    );
  }
}
