import { type Command, Option } from 'commander';
import type { LeaseGroupKind, LeaseGroupObject } from '#server/features/lease-rules/lease-group-contract.ts';
import { calling } from '../command-action.ts';
import { addConfirmation } from '../confirmation.ts';
import { RepeatableOption } from '../repeatable-option.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { block, listing, type Column } from '../text-layout.ts';

/** The compiler reports a kind that is missing here. */
const KINDS = Object.keys({ user: true, host: true } satisfies Record<LeaseGroupKind, true>);

interface CreateOptions {
  name: string;
  kind?: LeaseGroupKind;
  member?: string[];
}

interface UpdateOptions {
  newName?: string;
  member?: string[];
  add?: string[];
  remove?: string[];
}

export function addLeaseGroupCommands(program: Command): void {
  const group = program
    .command('lease-group')
    .description('groups of users and hosts, which lease rules name');

  addPageOptions(group.command('list'))
    .description('list groups, oldest first')
    .action(
      calling(
        (client, { limit, cursor }: PageOptions) => client.listLeaseGroups({ limit, cursor }),
        listing('No groups.', COLUMNS),
      ),
    );

  group
    .command('create')
    .description('create a group')
    .requiredOption('--name <name>', 'name of the group; case matters')
    .addOption(new Option('--kind <kind>', 'what the members are (default: user)').choices(KINDS))
    .addOption(
      new RepeatableOption(
        '--member <name>',
        'user name; for hosts, a host name, IP address or network; repeat for more',
      ),
    )
    .action(
      calling(
        (client, { name, kind, member: members }: CreateOptions) =>
          client.createLeaseGroup({ name, kind, members }),
        (reply) => groupBlock(reply.group),
      ),
    );

  group
    .command('update')
    .description('rename a group or change its members; the next checkout uses them')
    .argument('<name>', 'name of the group')
    .option('--new-name <name>', 'new name')
    .addOption(new RepeatableOption('--member <name>', 'replace all members with this one; repeat for more'))
    .addOption(new RepeatableOption('--add <name>', 'add this member; repeat for more'))
    .addOption(new RepeatableOption('--remove <name>', 'remove this member; repeat for more'))
    .action(
      calling(
        (client, name: string, { newName, member: members, add, remove }: UpdateOptions) =>
          client.updateLeaseGroup({
            name,
            new_name: newName,
            members,
            add_members: add,
            remove_members: remove,
          }),
        (reply) => groupBlock(reply.group),
      ),
    );

  addConfirmation(group.command('delete'))
    .description('delete a group that no rule names')
    .argument('<name>', 'name of the group')
    .action(
      calling(
        (client, name: string) => client.deleteLeaseGroup({ name }),
        (reply) => `Deleted.\n\n${groupBlock(reply.group)}`,
        { confirm: (name: string) => `Delete group ${name}?` },
      ),
    );
}

const COLUMNS: readonly Column<LeaseGroupObject>[] = [
  { title: 'ID', value: (group) => group.id },
  { title: 'NAME', value: (group) => group.name, max: 32 },
  { title: 'KIND', value: (group) => group.kind },
  { title: 'RULES', value: (group) => group.rule_count },
  { title: 'MEMBERS', value: (group) => group.members.length },
  { title: 'NAMES', value: (group) => group.members.join(', '), max: 60, wideOnly: true },
];

function groupBlock(group: LeaseGroupObject): string {
  return block([
    ['ID', group.id],
    ['Name', group.name],
    ['Kind', group.kind],
    ['Rules', group.rule_count],
    ['Members', group.members.join(', ')],
  ]);
}
