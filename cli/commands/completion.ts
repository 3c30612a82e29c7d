import { Argument, type Command } from 'commander';
import { printing } from '../command-action.ts';
import { bashCompletion } from '../completion/bash-completion.ts';
import { commandNodes } from '../completion/command-tree.ts';
import { fishCompletion } from '../completion/fish-completion.ts';
import { zshCompletion } from '../completion/zsh-completion.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
type Shell = keyof typeof SHELLS;

const INSTALLATION = `To install:
  bash  license-desk completion bash > ~/.local/share/bash-completion/completions/license-desk
  zsh   license-desk completion zsh > DIR/_license-desk, with DIR in $fpath
  fish  license-desk completion fish > ~/.config/fish/completions/license-desk.fish`;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', `\n${INSTALLATION}`)
    .action(
      printing((shell: Shell) => {
        const script = SHELLS[shell](commandNodes(program));
        return { reply: { shell, script }, text: script };
      }),
    );
}
