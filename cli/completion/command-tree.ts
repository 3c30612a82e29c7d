// The commands and options of the program, as completion scripts, the manual page and docs/commands.md need them.
import type { Argument, Command, Option } from 'commander';

export interface OptionNode {
  /** `--state` */
  name: string;
  /** `--state <state>` */
  flags: string;
  description: string;
  takesValue: boolean;
  choices: readonly string[];
  isFile: boolean;
  required: boolean;
}

export interface CommandNode {
  /** `license create`; empty for the program itself. */
  path: string;
  /** `license create [options]` */
  usage: string;
  description: string;
  commands: readonly { name: string; description: string }[];
  /** Options of this command, without the global ones. */
  options: readonly OptionNode[];
  argumentIsFile: boolean;
  argumentChoices: readonly string[];
}

function optionNode(option: Option): OptionNode {
  return {
    name: option.long ?? option.short ?? option.flags,
    flags: option.flags,
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
    isFile: /<(?:file|dir)>/u.test(option.flags),
    required: option.mandatory,
  };
}

function choicesOf(argument: Argument | undefined): readonly string[] {
  return argument?.argChoices ?? [];
}

/** The program first, then every command in the order of the help. */
export function commandNodes(program: Command): CommandNode[] {
  const help = program.createHelp();
  const walk = (command: Command, path: string): CommandNode[] => {
    const commands = help.visibleCommands(command);
    const [first] = command.registeredArguments;
    const node: CommandNode = {
      path,
      usage: [path, command.usage()].filter(Boolean).join(' '),
      description: command.description(),
      commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
      options: help.visibleOptions(command).map((option) => optionNode(option)),
      argumentIsFile: first?.name() === 'file',
      argumentChoices: choicesOf(first),
    };
    const below = command.commands.filter((one) => commands.includes(one));
    return [node, ...below.flatMap((one) => walk(one, `${path} ${one.name()}`.trim()))];
  };
  return walk(program, '');
}

/** What the option is for, and what else a reader of its description has to know. */
export function optionMeaning({ description, choices, required }: OptionNode): string {
  const more = [
    ...(choices.length > 0 ? [`one of ${choices.join(', ')}`] : []),
    ...(required ? ['required'] : []),
  ];
  return more.length > 0 ? `${description} (${more.join('; ')})` : description;
}

/** Help begins with a small letter and has no period. */
export function asSentence(help: string): string {
  const capital = help.charAt(0).toUpperCase() + help.slice(1);
  return capital.endsWith('.') ? capital : `${capital}.`;
}

/** Its options without `--help`, which every command has. */
export function ownOptions({ options }: CommandNode): OptionNode[] {
  return options.filter(({ name }) => name !== '--help');
}

/** Those that do something by themselves, rather than only contain others. */
export function runnableCommands(nodes: readonly CommandNode[]): CommandNode[] {
  const [, ...commands] = nodes;
  return commands.filter((node) => node.commands.length === 0 || ownOptions(node).length > 0);
}

/** Every option that may follow this command, each once. */
export function completedOptions(node: CommandNode, program: CommandNode): OptionNode[] {
  const all = [...node.options, ...program.options.filter(({ name }) => name !== '--version')];
  return node.path === ''
    ? [...program.options]
    : all.filter((one, at) => all.findIndex(({ name }) => name === one.name) === at);
}

/** In single quotes, as bash and zsh read them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
