import type { Command } from 'commander';
import type { Client } from '#server/wire/client.ts';
import type { adminSessionContract } from '#server/features/admin-session/admin-session-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { usageFailure } from '../command-failure.ts';
import { addConfirmation, confirmFirst } from '../confirmation.ts';
import { instant, listing, type Column } from '../text-layout.ts';

type Sessions = Awaited<ReturnType<Client<typeof adminSessionContract>['listSessions']>>;

export function addSessionCommands(program: Command): void {
  const session = program.command('session').description('sessions of the back office');

  session
    .command('list')
    .description('list who is signed in to the back office, newest first')
    .action(
      calling(
        async (client) => ({ items: (await client.listSessions({})).items, next_cursor: null }),
        listing('No sessions.', COLUMNS),
      ),
    );

  addConfirmation(session.command('end'))
    .description('sign a session out, or all of them')
    .argument('[id]', 'ID of the session')
    .option('--all', 'sign out all sessions')
    .action(
      printing(async (id: string | undefined, { all = false }: { all?: boolean }, command: Command) => {
        if (id !== undefined && all) throw usageFailure('<id> cannot be used with --all');
        if (id === undefined && !all) throw usageFailure('give the ID of a session, or --all');
        await confirmFirst(command, id === undefined ? 'Sign out all sessions?' : `Sign out session ${id}?`);
        return withService(command, async (client) => {
          if (id !== undefined) {
            await client.endSession({ id });
            return { reply: { ended: 1 }, text: `Session ${id} is signed out.` };
          }
          const reply = await client.endOtherSessions({});
          return { reply, text: `Sessions signed out: ${reply.ended}` };
        });
      }),
    );
}

const COLUMNS: readonly Column<Sessions['items'][number]>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'SIGNED IN', value: (session) => instant(session.signed_in_at) },
  { title: 'LAST USED', value: (session) => instant(session.last_used_at) },
  { title: 'EXPIRES', value: (session) => instant(session.expires_at) },
  { title: 'BROWSER', value: (session) => session.user_agent, max: 60 },
];
