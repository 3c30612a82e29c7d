// Imports an options file into the rules, groups and limits of a license: all of it, or nothing.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { LicenseDetails } from '#server/features/licenses/license-details.ts';
import type { License } from '#server/rules/license.ts';
import type { PlanService } from '#server/features/plans/plan-service.ts';
import type { Call } from '#server/platform/call.ts';
import { comparableName } from '#server/rules/lease-match.ts';
import { byRef } from '#server/rules/license-reference.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import type { RuleReason } from '#server/wire/field-rules.ts';
import type { LeaseGroupService } from './lease-group-service.ts';
import type { LeaseGroupStore } from './lease-group-store.ts';
import { checkedMembers, checkRoomForGroup, checkRoomForRule } from './lease-rule-checks.ts';
import type { LeaseRuleObject } from './lease-rule-contract.ts';
import { toRuleObject } from './lease-rule-presenter.ts';
import type { LeaseRuleService } from './lease-rule-service.ts';
import type { LeaseRuleRecord, LeaseRuleStore } from './lease-rule-store.ts';
import type { OptionsSetting } from './options-grammar.ts';
import type { GroupDraft } from './options-groups.ts';
import type { optionsImportContract, OptionsImportReport } from './options-import-contract.ts';
import { namesOf, type Note, note } from './options-notes.ts';
import { mapOptionsFile, type RuleDraft } from './options-mapping.ts';

interface Needs {
  ruleService: Pick<LeaseRuleService, 'add' | 'removeLocked' | 'lockLicense'>;
  groupService: Pick<LeaseGroupService, 'create' | 'update'>;
  rules: Pick<LeaseRuleStore, 'listOf'>;
  groups: Pick<LeaseGroupStore, 'find' | 'keys' | 'count'>;
  details: LicenseDetails;
  plans: Pick<PlanService, 'update'>;
  transaction: RunTransaction;
}

type Request = RequestOf<typeof optionsImportContract.importLeaseRules>;
type GroupChange = GroupDraft & Pick<OptionsImportReport['groups'][number], 'change'>;
type SettingReport = OptionsImportReport['settings'][number];

/** A license overrides these; the others are the plan's. */
const OF_LICENSE: ReadonlySet<OptionsSetting> = new Set([
  'overdraft_seats',
  'borrow_max_hours',
  'borrow_max_count',
  'borrow_keep_free',
]);

function keyOf({ type, match, units }: Pick<LeaseRuleObject, 'type' | 'match' | 'units'>): string {
  const fields = [match.user, match.host, match.address].map((name) => name && comparableName(name));
  return JSON.stringify([type, units, ...fields, match.group]);
}

function withoutLine<Draft extends { line: number }>({ line: _line, ...draft }: Draft): Omit<Draft, 'line'> {
  return draft;
}

/** @param exceeded the rule of a line that goes beyond a limit @throws ApiError of the check, about this line of the file */
function atLine(line: number, exceeded: RuleReason, check: () => void): void {
  try {
    check();
  } catch (error) {
    const [detail] = error instanceof ApiError ? (error.details ?? []) : [];
    if (!detail) throw error;
    const isLimit = detail.reason === 'too_many';
    throw refusedField('content', {
      message: `line ${line}: ${detail.message}`,
      ...(isLimit && { reason: exceeded, values: { ...detail.values, line } }),
    });
  }
}

/** A rule that the license already has is not added again, so that a second import changes nothing. */
function compareRules(drafts: readonly RuleDraft[], existing: readonly LeaseRuleRecord[]) {
  const left = existing.map((rule) => keyOf(toRuleObject(rule)));
  return drafts.map((draft) => {
    const at = left.indexOf(keyOf(draft));
    if (at !== -1) left.splice(at, 1);
    return { ...draft, is_new: at === -1 };
  });
}

function hasSameNames(some: readonly string[], others: readonly string[]): boolean {
  const names = (list: readonly string[]) => list.map((name) => comparableName(name)).toSorted();
  return JSON.stringify(names(some)) === JSON.stringify(names(others));
}

function currentValue({ terms }: License, field: OptionsSetting): number | null {
  const values: Record<OptionsSetting, number | null> = {
    lease_seconds: terms.leaseSeconds,
    linger_seconds: terms.lingerSeconds,
    overdraft_seats: terms.overdraftSeats,
    borrow_max_hours: terms.borrowMaxHours,
    borrow_max_count: terms.borrowMaxCount,
    borrow_keep_free: terms.borrowKeepFree,
  };
  return values[field];
}

/** An access rule for everyone hides those after it. */
function hiddenBehind(existing: readonly LeaseRuleRecord[], added: readonly RuleDraft[]): Note[] {
  const wall = existing
    .map((rule) => toRuleObject(rule))
    .find(({ type, match }) => (type === 'allow' || type === 'deny') && Object.keys(match).length === 0);
  if (!wall || !added.some(({ type }) => type === 'allow' || type === 'deny')) return [];
  return [note('hidden_by_rule', { rule: wall.id, type: wall.type })];
}

export function createOptionsImport({
  ruleService,
  groupService,
  rules,
  groups,
  details,
  plans,
  transaction,
}: Needs) {
  async function compareGroup(draft: GroupDraft, mayUpdate: boolean): Promise<GroupChange> {
    const existing = await groups.find({ name: draft.name });
    if (!existing) return { ...draft, change: 'create' };
    if (existing.kind !== draft.kind) return { ...draft, change: 'conflict' };
    if (hasSameNames(existing.members, draft.members)) return { ...draft, change: 'none' };
    return { ...draft, change: mayUpdate ? 'update' : 'conflict' };
  }

  async function applyGroup({ name, kind, members, change }: GroupChange, call: Call): Promise<void> {
    if (change === 'conflict')
      throw new ApiError(
        'lease_group_exists',
        `a group named ${name} already exists with other members; use update_groups, or rename one of them`,
      );
    if (change === 'create') await groupService.create({ name, kind, members }, call);
    if (change === 'update') await groupService.update({ name, members }, call);
  }

  /**
   * What the services would refuse, so that a dry run refuses it as well, and the error names the line.
   * @param kept how many rules the license keeps
   */
  async function checkLimits(changes: readonly GroupChange[], added: readonly RuleDraft[], kept: number) {
    for (const { line, kind, members } of changes)
      atLine(line, 'line_exceeds_members', () => checkedMembers(kind, members));
    const existing = await groups.count();
    const created = changes.filter(({ change }) => change === 'create');
    for (const [at, { line }] of created.entries())
      atLine(line, 'line_exceeds_groups', () => checkRoomForGroup(existing + at));
    for (const [at, { line }] of added.entries())
      atLine(line, 'line_exceeds_rules', () => checkRoomForRule(kept + at));
  }

  async function applySettings(license: License, settings: readonly SettingReport[], call: Call) {
    const changes = (of: SettingReport['of']) =>
      Object.fromEntries(
        settings
          .filter((one) => one.of === of && one.applies && one.value !== one.before)
          .map(({ field, value }) => [field, value]),
      );
    const own = changes('license');
    if (Object.keys(own).length > 0) await details.update({ id: license.id }, own, call);
    const ofPlan = changes('plan');
    if (Object.keys(ofPlan).length > 0) await plans.update({ name: license.plan, ...ofPlan }, call);
  }

  const run = (request: Request, call: Call): Promise<OptionsImportReport> =>
    transaction(async () => {
      const license = await ruleService.lockLicense(byRef(request.license));
      const mapping = mapOptionsFile(request.content, request.features, await groups.keys());
      const before = await rules.listOf(license.id);
      const kept = request.replace ? [] : before;
      const compared = compareRules(mapping.rules, kept);
      const groupChanges: GroupChange[] = [];
      for (const draft of mapping.groups) groupChanges.push(await compareGroup(draft, request.update_groups));
      const isFloating = license.licensing === 'floating';
      const settings = [...mapping.settings].map(([field, value]): SettingReport => {
        const of = OF_LICENSE.has(field) ? 'license' : 'plan';
        const applies = isFloating && (of === 'license' || request.change_plan);
        return { of, field, before: currentValue(license, field), value, applies };
      });
      const added = compared.filter(({ is_new: isNew }) => isNew);
      await checkLimits(groupChanges, added, kept.length);
      const warnings = [
        ...mapping.warnings,
        ...hiddenBehind(kept, added),
        ...(isFloating ? [] : [note('node_locked')]),
      ];
      const report: OptionsImportReport = {
        applied: !request.dry_run,
        lines: mapping.lines.map(({ notes, ...line }) => ({
          ...line,
          message: notes.map(({ message }) => message).join('; '),
          notes: namesOf(notes),
        })),
        features: mapping.features,
        rules: compared.map((rule) => withoutLine(rule)),
        groups: groupChanges.map((group) => withoutLine(group)),
        settings,
        deleted_rules: before.length - kept.length,
        warnings: warnings.map(({ message }) => message),
        warning_notes: namesOf(warnings),
      };
      if (request.dry_run) return report;
      for (const group of groupChanges) await applyGroup(group, call);
      // From the last one, so that none of the others has to move.
      if (request.replace) for (const rule of before.toReversed()) await ruleService.removeLocked(rule, call);
      for (const { is_new: _isNew, line: _line, ...draft } of added)
        await ruleService.add(license, draft, call);
      await applySettings(license, settings, call);
      return report;
    });

  return { run };
}

export type OptionsImport = ReturnType<typeof createOptionsImport>;
