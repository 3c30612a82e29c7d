// Representations of a lease rule: in replies, in one line of text, and as the pure rules take it.
import type { LeaseMatch } from '#server/rules/lease-match.ts';
import type { LeaseRule } from '#server/rules/lease-rules.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { LeaseRuleObject } from './lease-rule-contract.ts';
import type { LeaseRuleRecord } from './lease-rule-store.ts';

function matchOf(rule: LeaseRuleRecord): LeaseRuleObject['match'] {
  return {
    ...(rule.matchUser === null ? {} : { user: rule.matchUser }),
    ...(rule.matchHost === null ? {} : { host: rule.matchHost }),
    ...(rule.groupName === null ? {} : { group: rule.groupName }),
    ...(rule.matchAddress === null ? {} : { address: rule.matchAddress }),
  };
}

export function toRuleObject(rule: LeaseRuleRecord): LeaseRuleObject {
  return {
    id: rule.id,
    license_id: rule.licenseId,
    license_key: rule.licenseKey,
    position: rule.position,
    type: rule.type,
    match: matchOf(rule),
    units: rule.units,
    note: rule.note,
    created_at: toTimestamp(rule.createdAt),
    updated_at: toTimestamp(rule.updatedAt),
  };
}

/** `max 5, group cad-team`: for the log of denials, where the rule may be gone later. */
export function ruleText(rule: LeaseRuleRecord): string {
  const about = Object.entries(matchOf(rule)).map(([field, value]) => `${field} ${value}`);
  const whom = about.length === 0 ? 'everyone' : about.join(', ');
  return `${rule.type}${rule.units === null ? '' : ` ${rule.units}`}, ${whom}`;
}

/** @param members of all groups that the license's rules name, by ID */
export function toRule(rule: LeaseRuleRecord, members: ReadonlyMap<number, readonly string[]>): LeaseRule {
  const { matchUser, matchHost, matchGroupId, matchAddress, groupKind } = rule;
  const match: LeaseMatch = {
    user: matchUser ?? undefined,
    host: matchHost ?? undefined,
    address: matchAddress ?? undefined,
    group:
      matchGroupId === null || groupKind === null
        ? undefined
        : { kind: groupKind, members: members.get(matchGroupId) ?? [] },
  };
  return { id: rule.id, type: rule.type, match, units: rule.units };
}
