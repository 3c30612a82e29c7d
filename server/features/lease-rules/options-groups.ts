// The groups of an options file.
import { distinctNames } from '#server/rules/lease-match.ts';
import { beginning } from '#server/wire/whole-characters.ts';
import { type LeaseGroupKind, MAX_GROUP_NAME } from './lease-group-contract.ts';
import type { OptionsEntry } from './options-grammar.ts';

export interface GroupDraft {
  /** The line of the file where it begins. */
  line: number;
  name: string;
  kind: LeaseGroupKind;
  members: string[];
}

/** The file may have a group of users and one of hosts with the same name. */
export const groupKey = ({ kind, name }: { kind: LeaseGroupKind; name: string }) => `${kind} ${name}`;

/** A name for a group of hosts whose own name is taken. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? '-hosts' : `-hosts-${count}`;
    const start = beginning(name, MAX_GROUP_NAME - suffix.length);
    if (!taken.has(start + suffix)) return start + suffix;
  }
}

/** The groups of the file; several lines with one name add up. */
export function collectGroups(entries: readonly OptionsEntry[]): Map<string, GroupDraft> {
  const groups = new Map<string, GroupDraft>();
  for (const { source, statement } of entries) {
    if (statement.type !== 'group') continue;
    const { kind, name, members } = statement;
    const key = groupKey(statement);
    const { line, members: before } = groups.get(key) ?? { line: source.line, members: [] };
    groups.set(key, { line, name, kind, members: [...before, ...members] });
  }
  // The product has one list of groups; the file has one each for users and hosts.
  const names = new Set(Array.from(groups.values(), ({ name }) => name));
  for (const group of groups.values()) {
    group.members = distinctNames(group.members);
    if (group.kind === 'user' || !groups.has(groupKey({ kind: 'user', name: group.name }))) continue;
    group.name = freeName(group.name, names);
    names.add(group.name);
  }
  return groups;
}
