import type { Command } from 'commander';
import { printing } from '../command-action.ts';
import { commandNodes } from '../completion/command-tree.ts';
import { manualPage } from '../manual-page.ts';

export function addManual(program: Command): void {
  program
    .command('manual')
    .description('print the manual page in roff; read it with: license-desk manual | man -l -')
    .action(
      printing(() => {
        const page = manualPage(commandNodes(program));
        return { reply: { page }, text: page };
      }),
    );
}
