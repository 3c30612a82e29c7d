import type { Command } from 'commander';
import { calling } from '../command-action.ts';

export function addOpen(program: Command): void {
  program
    .command('open')
    .description('print a one-time sign-in link for the back office of the running server')
    .action(
      calling(
        (client) => client.createSignInCode({}),
        ({ address, proxied_address: proxied }) =>
          proxied === undefined ? address : `${address}\n${proxied}`,
      ),
    );
}
