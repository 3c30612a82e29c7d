// What lease rules and groups may be. Services check it before each change, and the import of options files before its dry run.
import { distinctNames } from '#server/rules/lease-match.ts';
import { isNetwork } from '#server/wire/address-text.ts';
import { refusedField } from '#server/wire/errors.ts';
import { tooMany } from '#server/wire/field-rules.ts';
import { type LeaseGroupKind, MAX_GROUPS, MAX_MEMBERS } from './lease-group-contract.ts';
import { MAX_RULES } from './lease-rule-contract.ts';

/** @returns why a host cannot have this name; null if it can, or if this is a network */
export function hostProblem(name: string): string | null {
  const isBroken = name.includes('/') && !isNetwork(name);
  return isBroken ? 'is not a network such as 10.0.0.0/8' : null;
}

/** Each name once. @throws ApiError `invalid_request` */
export function checkedMembers(kind: LeaseGroupKind, names: readonly string[]): string[] {
  for (const name of names) {
    const problem = kind === 'host' ? hostProblem(name) : null;
    if (problem !== null)
      throw refusedField('members', { message: `${name} ${problem}`, reason: 'not_a_network' });
  }
  const members = distinctNames(names);
  if (members.length > MAX_MEMBERS)
    throw refusedField('members', tooMany(MAX_MEMBERS, `a group has at most ${MAX_MEMBERS} members`));
  return members;
}

/** @param groups that there are already @throws ApiError `invalid_request` if there cannot be another */
export function checkRoomForGroup(groups: number): void {
  if (groups >= MAX_GROUPS)
    throw refusedField('name', tooMany(MAX_GROUPS, `there are ${MAX_GROUPS} groups, which is the most`));
}

/** @param rules that the license has already @throws ApiError `invalid_request` if it cannot have another */
export function checkRoomForRule(rules: number): void {
  if (rules >= MAX_RULES)
    throw refusedField(
      'license',
      tooMany(MAX_RULES, `the license has ${MAX_RULES} lease rules, which is the most`),
    );
}
