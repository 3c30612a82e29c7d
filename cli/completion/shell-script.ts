// What the completion scripts for bash and zsh share: the functions that look up what may follow a command or an option.
import { type CommandNode, completedOptions, type OptionNode, quoted } from './command-tree.ts';

interface Shell {
  /** The first lines of the script. */
  head: readonly string[];
  /** The value of a variable that holds several words. */
  list(words: readonly string[]): string;
  /** Sets the variables that only this shell has. */
  variables(node: CommandNode, options: readonly OptionNode[]): readonly string[];
  /** Completes a line, with the variables that the other functions set. */
  functions: string;
}

export function shellScript(
  nodes: readonly CommandNode[],
  { head, list, variables, functions }: Shell,
): string {
  const [program] = nodes;
  if (!program) return '';
  const commands = nodes.map((node) => {
    const options = completedOptions(node, program);
    const valued = options.filter(({ takesValue }) => takesValue).map(({ name }) => name);
    return [
      `    ${quoted(node.path)})`,
      ...variables(node, options).map((line) => `      ${line}`),
      `      valued=${list(valued)}`,
      `      choices=${list(node.argumentChoices)} files=${node.argumentIsFile ? 'yes' : "''"}`,
      '      ;;',
    ].join('\n');
  });
  const values = nodes.flatMap((node) =>
    completedOptions(node, program)
      .filter(({ choices, isFile }) => choices.length > 0 || isFile)
      .map(
        ({ name, choices, isFile }) =>
          `    ${quoted(`${node.path}:${name}`)}) ${isFile ? 'files=yes' : `choices=${list(choices)}`} ;;`,
      ),
  );
  return [
    ...head,
    '',
    '_license_desk_command() {',
    '  case "$1" in',
    ...commands,
    '  esac',
    '}',
    '',
    '_license_desk_value() {',
    `  choices=${list([])} files=''`,
    '  case "$1:$2" in',
    ...values,
    '  esac',
    '}',
    functions,
  ].join('\n');
}
