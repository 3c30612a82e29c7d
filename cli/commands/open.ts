import type { Command } from 'commander';
import { calling } from '../command-action.ts';

export function addOpen(program: Command): void {
  program
    .command('open')
    .description('print an address that signs in to the back office of the running server, once')
    .action(
      calling(
        (client) => client.createSignInCode({}),
        (reply) => reply.address,
      ),
    );
}
