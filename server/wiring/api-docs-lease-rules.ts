// Documentation and examples of the calls for lease rules and groups.
import type { leaseGroupContract } from '#server/features/lease-rules/lease-group-contract.ts';
import type { leaseRuleContract } from '#server/features/lease-rules/lease-rule-contract.ts';
import type { optionsImportContract } from '#server/features/lease-rules/options-import-contract.ts';

type Name =
  | keyof typeof leaseRuleContract
  | keyof typeof leaseGroupContract
  | keyof typeof optionsImportContract;

const NOW = '2026-11-20T09:30:00.000Z';
const license_key = '7K3QX-9M2TC-0AB1D-4EFGH-JKMNP';
const stamps = { created_at: NOW, updated_at: NOW };

const group = {
  id: 3,
  name: 'cad-team',
  kind: 'user',
  members: ['ada', 'grace'],
  rule_count: 1,
  ...stamps,
};
const rule = {
  id: 12,
  license_id: 4711,
  license_key,
  position: 1,
  type: 'reserve',
  match: { group: 'cad-team' },
  units: 4,
  note: null,
  ...stamps,
};

/** Without `ok: true`. */
export const LEASE_RULE_REPLIES: Record<Name, object> = {
  listLeaseRules: { items: [rule], next_cursor: null },
  createLeaseRule: { rule },
  updateLeaseRule: { rule: { ...rule, units: 5 } },
  deleteLeaseRule: { rule },
  tryLeaseRules: {
    granted: false,
    reason: 'no_seat_available',
    decided_by: rule,
    matching: [],
    pool: { total: 10, in_use: 6, available: 0, reserved: 4 },
  },
  importLeaseRules: {
    applied: false,
    lines: [
      {
        line: 2,
        text: 'GROUP cad-team ada grace',
        outcome: 'mapped',
        message: 'group cad-team, users',
        notes: [{ reason: 'group', values: { group: 'cad-team', kind: 'user' } }],
      },
      {
        line: 3,
        text: 'RESERVE 4 viewer GROUP cad-team',
        outcome: 'mapped',
        message: 'rule: reserve 4, group cad-team',
        notes: [
          {
            reason: 'rule_with_seats',
            values: { type: 'reserve', field: 'group', name: 'cad-team', units: 4 },
          },
        ],
      },
      {
        line: 4,
        text: 'NOLOG QUEUED',
        outcome: 'ignored',
        message: 'NOLOG configures logs, which License Desk keeps by itself',
        notes: [{ reason: 'own_logs', values: {} }],
      },
    ],
    features: ['viewer'],
    rules: [
      {
        type: 'reserve',
        match: { group: 'cad-team' },
        units: 4,
        note: 'Options file, line 3',
        is_new: true,
      },
    ],
    groups: [{ name: 'cad-team', kind: 'user', members: ['ada', 'grace'], change: 'create' }],
    settings: [],
    deleted_rules: 0,
    warnings: [],
    warning_notes: [],
  },
  listLeaseGroups: { items: [group], next_cursor: null },
  createLeaseGroup: { group: { ...group, rule_count: 0 } },
  updateLeaseGroup: { group: { ...group, members: ['ada', 'grace', 'joan'] } },
  deleteLeaseGroup: { group: { ...group, rule_count: 0 } },
};

interface Notes {
  tag: 'Floating licenses';
  description: string;
  request: object;
}

function notes(description: string, request: object): Notes {
  return { tag: 'Floating licenses', description, request };
}

export const LEASE_RULE_NOTES: Record<Name, Notes> = {
  listLeaseRules: notes('Lists the rules of one license, or of all licenses.', {
    license: license_key,
    limit: 50,
  }),
  createLeaseRule: notes(
    'Adds a rule. It applies from the next checkout; leases that clients hold stay. Of the `allow` and `deny` rules, the first that matches decides; without a match, everyone may take a seat. `reserve` keeps seats for the match, which uses them before the open ones. `max` limits the seats that everyone in the match holds together. A license has at most 200 rules.',
    { license: license_key, type: 'reserve', match: { group: 'cad-team' }, units: 4 },
  ),
  updateLeaseRule: notes(
    'Fields that are left out stay unchanged. `match` is replaced as a whole; `match_changes` changes some of its fields. `position` moves the rule, and the rules between its old and new place by one.',
    { id: 12, units: 5 },
  ),
  deleteLeaseRule: notes('Deletes the rule. The rules after it move up by one.', { id: 12 }),
  tryLeaseRules: notes(
    'Asks the license, its rules, the queue and the seats, as a checkout of this client does. `matching` lists all rules that are about it.',
    { license: license_key, user: 'joan', host: 'workstation-9', address: '192.0.2.19' },
  ),
  importLeaseRules: notes(
    'Reads an options file of FlexNet (`RESERVE`, `MAX`, `INCLUDE`, `EXCLUDE`, `GROUP`, `HOST_GROUP`, `TIMEOUT`, `LINGER`, `MAX_BORROW_HOURS`, `BORROW_LOWWATER` and others) or RLM. The reply reports what becomes of each line. All of it is imported, or nothing. Rules that the license already has are not added again.',
    {
      license: license_key,
      content: '# Viewer\nGROUP cad-team ada grace\nRESERVE 4 viewer GROUP cad-team\nNOLOG QUEUED\n',
      dry_run: true,
    },
  ),
  listLeaseGroups: notes('Lists groups with their members, oldest first.', { limit: 50 }),
  createLeaseGroup: notes(
    'Creates a group of users, or of hosts. The members of a group of hosts are host names, IP addresses or networks. There are at most 500 groups with 2,000 members each.',
    { name: 'cad-team', kind: 'user', members: ['ada', 'grace'] },
  ),
  updateLeaseGroup: notes(
    'Renames a group, replaces its members, or adds and removes some. With `id`, `name` is the new name; without it, `new_name` is.',
    { name: 'cad-team', add_members: ['joan'] },
  ),
  deleteLeaseGroup: notes(
    'Deletes a group. An `id` and a `name` must be of the same group. Fails while rules name it.',
    { name: 'cad-team' },
  ),
};
