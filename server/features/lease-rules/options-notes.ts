// What the report of an options file says: a name for programs and other languages, and the English text.
import { z } from 'zod';
import { LEASE_RULE_TYPES } from '#server/rules/lease-rule-type.ts';
import { LEASE_GROUP_KINDS } from './lease-group-contract.ts';

/** Values in the texts. Names are as the file has them. */
export const noteValues = z
  .object({
    what: z.enum(['type', 'name', 'feature', 'group_name', 'member', 'host']),
    word: z.string(),
    name: z.string(),
    address: z.string(),
    feature: z.string(),
    features: z.array(z.string()),
    pool: z.string(),
    group: z.string(),
    members: z.array(z.string()),
    kind: z.enum(LEASE_GROUP_KINDS),
    type: z.enum(LEASE_RULE_TYPES),
    field: z.enum(['user', 'host', 'group', 'address']),
    setting: z.string(),
    value: z.int(),
    units: z.int(),
    min: z.int(),
    max: z.int(),
    got: z.int(),
    line: z.int(),
    rule: z.int(),
  })
  .partial();

export type NoteValues = z.infer<typeof noteValues>;

const PARTS: Readonly<Record<NonNullable<NoteValues['what']>, string>> = {
  type: 'type such as USER',
  name: 'name',
  feature: 'feature',
  group_name: 'group name',
  member: 'member',
  host: 'host',
};

type Text = (values: NoteValues & { part: string }, detail: string) => string;

/** @param detail what only the English text says */
const texts = <Reason extends string>(all: Record<Reason, Text>): Record<Reason, Text> => all;

const TEXTS = texts({
  // Keywords.
  own_logs: () => 'configures logs, which License Desk keeps by itself',
  other_server: () => 'configures the other license server',
  case_ignored: () => 'is always on: License Desk ignores case in user and host names',
  borrowing_for_everyone: () =>
    'restricts who may borrow; in License Desk, limits on borrowing apply to everyone',
  trusted_storage: () => 'is about activation from trusted storage, which floating licenses do not have',
  exemption: () => 'exempts from MAX; add the others to a group, and limit that group',
  client_cache: () => 'keeps seats in clients, which License Desk does not',
  fixed_queue: () => 'changes the queue, which is first in, first out in License Desk',
  whole_host_names: () => 'compares parts of host names; in License Desk, the whole host name must match',
  reclaim_at_once: () => 'delays taking a seat back; in License Desk, an administrator may do so at once',
  time_zones: () => 'restricts time zones, which License Desk does not check',
  license_keys: () => 'authenticates clients, which License Desk does by license key',
  each_user: () => 'limits each user separately; a lease rule limits all of its users together',
  unknown_keyword: () => 'is not a keyword of options files',
  // Words of a line.
  open_quote: () => 'has a quote that is never closed',
  no_number: () => 'has no number',
  not_a_number: ({ word }) => `has ${word} where a number is expected`,
  missing_word: ({ part }) => `has no ${part}`,
  word_too_long: ({ part, got, max }) => `has a ${part} of ${got} characters; at most ${max} are allowed`,
  hidden_character: ({ part, name }, detail) => `has the ${part} ${JSON.stringify(name)}, which ${detail}`,
  not_a_network: ({ part, name }, detail) => `has the ${part} ${name}, which ${detail}`,
  wildcard_inside: ({ address }) => `has the address ${address}; only wildcards at the end can be imported`,
  not_an_address: ({ address }) => `has the address ${address}, which is not one`,
  extra_after_name: ({ word, name }) => `has ${word} after the name ${name}`,
  extra_after_number: ({ word }) => `has ${word} after the number and the feature`,
  not_reported: ({ word }) => `is about a ${word}, which clients do not report`,
  unknown_type: ({ word }) =>
    `has ${word}, which is none of USER, HOST, INTERNET, GROUP, HOST_GROUP and INTERNET_GROUP`,
  // What lines become.
  rule: ({ type, field, name }) => `rule: ${type}, ${field} ${name}`,
  rule_with_seats: ({ type, units, field, name }) => `rule: ${type} ${units}, ${field} ${name}`,
  one_pool: ({ pool }) => `the license has one pool, so ${pool} is not checked`,
  setting: ({ setting, value }) => `${setting}: ${value}`,
  out_of_range: ({ value, min, max }) => `${value} is outside ${min} to ${max}`,
  set_again: ({ line, setting }) => `line ${line} sets ${setting} again`,
  group: ({ group, kind }) => `group ${group}, ${kind}s`,
  group_renamed: ({ name }) => `a group of users has the name ${name}`,
  nested_groups: ({ members = [] }) =>
    `${members.join(', ')}: taken as a name, because a group cannot contain groups`,
  group_unused: () => 'no imported rule names the group',
  group_undefined: ({ group }) => `no imported line defines the group ${group}`,
  reserves_nothing: () => 'reserves nothing',
  feature_not_chosen: ({ feature }) => `${feature}: is about a feature that is not chosen`,
  several_features: ({ feature, features = [] }) =>
    `${feature}: the file names several features; choose those that the license stands for (${features.join(', ')})`,
  // Warnings.
  others_denied: () =>
    'INCLUDE shuts out everyone else, so a rule that denies everyone follows the allow rules',
  shuts_no_one_out: ({ line }) => `line ${line} is not imported, so it shuts no one out`,
  included_denied: ({ line }) => `line ${line} is not imported, so those whom it includes are denied`,
  hidden_by_rule: ({ rule, type }) =>
    `rule ${rule} (${type}, everyone) comes first, so the imported allow and deny rules have no effect; move or delete it, or use replace`,
  node_locked: () => 'the license is node-locked, so its rules have no effect yet',
});

export type NoteReason = keyof typeof TEXTS;
export const NOTE_REASONS = Object.keys(TEXTS) as [NoteReason, ...NoteReason[]];

export interface Note {
  reason: NoteReason;
  values: NoteValues;
  /** In English. */
  message: string;
}

/** @param detail what only the English text says */
export function note(reason: NoteReason, values: NoteValues = {}, detail = ''): Note {
  const { what } = values;
  const part = what === undefined ? '' : PARTS[what];
  return { reason, values, message: TEXTS[reason]({ ...values, part }, detail) };
}

export const namesOf = (notes: readonly Note[]) => notes.map(({ reason, values }) => ({ reason, values }));
