// Lease rules of a license, in the administrator's order. A change applies from the next checkout.
import { cursorOf, NUMBER } from '#server/database/cursor.ts';
import { toPage } from '#server/database/page.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { License, LicenseReference } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { byRef, requireLicense } from '#server/rules/license-reference.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import { fixedRule } from '#server/wire/field-rules.ts';
import type { LeaseGroupStore } from './lease-group-store.ts';
import { checkRoomForRule } from './lease-rule-checks.ts';
import type {
  leaseRuleContract,
  LeaseMatchChanges,
  LeaseMatchObject,
  LeaseRuleObject,
  LeaseRuleType,
} from './lease-rule-contract.ts';
import type { LeaseRuleRow } from './lease-rule-model.ts';
import { toRuleObject } from './lease-rule-presenter.ts';
import type { LeaseRuleRecord, LeaseRuleStore } from './lease-rule-store.ts';

interface Needs {
  rules: LeaseRuleStore;
  groups: Pick<LeaseGroupStore, 'findForChange'>;
  licenses: Pick<LicenseStore, 'find' | 'findForChange'>;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

/** A rule to add: checked, but without a place. */
export interface NewLeaseRule {
  type: LeaseRuleType;
  match: LeaseMatchObject;
  units: number | null;
  note: string | null;
}

const CURSOR = cursorOf({ license: NUMBER, position: NUMBER });

/** @throws ApiError `invalid_request` */
function checkUnits(type: LeaseRuleType, units: number | null): void {
  const needsUnits = type === 'reserve' || type === 'max';
  const ofType = `for a rule of type ${type}`;
  if (needsUnits && units === null)
    throw refusedField('units', { message: `is required ${ofType}`, reason: 'required' });
  if (!needsUnits && units !== null)
    throw refusedField('units', { message: `must be left out ${ofType}`, reason: 'not_applicable' });
}

/** @throws ApiError `invalid_request` */
function checkMatch(type: LeaseRuleType, match: LeaseMatchObject): void {
  if (type === 'reserve' && Object.values(match).every((value) => value === undefined))
    throw refusedField('match', fixedRule('matches_everyone'));
}

function changedMatch(before: LeaseMatchObject, changes: LeaseMatchChanges): LeaseMatchObject {
  const changed = (field: keyof LeaseMatchObject) =>
    changes[field] === undefined ? before[field] : (changes[field] ?? undefined);
  return {
    user: changed('user'),
    host: changed('host'),
    group: changed('group'),
    address: changed('address'),
  };
}

export function createLeaseRuleService({ rules, groups, licenses, audit, transaction, clock }: Needs) {
  async function lockLicense(reference: LicenseReference): Promise<License> {
    return requireLicense(await licenses.findForChange(reference));
  }

  /** The license is locked as well, because a change may move its other rules. */
  async function mustFindForChange(id: number): Promise<LeaseRuleRecord> {
    const found = await rules.find(id);
    if (found) await licenses.findForChange({ id: found.licenseId });
    const current = found && (await rules.find(id));
    if (!current) throw new ApiError('lease_rule_not_found', `lease rule ${id} not found`);
    return current;
  }

  /** The group is locked, so that it cannot be deleted before the rule names it. */
  async function matchColumns({ user, host, group: name, address }: LeaseMatchObject) {
    const group = name === undefined ? null : await groups.findForChange({ name });
    if (name !== undefined && !group) throw new ApiError('lease_group_not_found', `group ${name} not found`);
    return {
      matchUser: user ?? null,
      matchHost: host ?? null,
      matchGroupId: group?.id ?? null,
      matchAddress: address ?? null,
    };
  }

  async function present(id: number): Promise<LeaseRuleObject> {
    const rule = await rules.find(id);
    if (!rule) throw new Error(`lease rule ${id} is gone inside its own transaction`);
    return toRuleObject(rule);
  }

  const audited = (
    call: Call,
    action: string,
    before: LeaseRuleObject | null,
    after: LeaseRuleObject | null,
  ) => audit.record(call, `lease_rule.${action}`, `lease_rule:${(after ?? before)?.id}`, before, after);

  /** Adds a rule to a locked license. @param position default: last */
  async function add(
    license: Pick<License, 'id'>,
    { match, ...rule }: NewLeaseRule,
    call: Call,
    position?: number,
  ): Promise<LeaseRuleObject> {
    checkUnits(rule.type, rule.units);
    checkMatch(rule.type, match);
    const count = (await rules.listOf(license.id)).length;
    checkRoomForRule(count);
    const now = clock.now();
    const id = await rules.insert({
      ...rule,
      ...(await matchColumns(match)),
      licenseId: license.id,
      position: Math.min(position ?? count + 1, count + 1),
      createdAt: now,
      updatedAt: now,
    });
    const added = await present(id);
    await audited(call, 'created', null, added);
    return added;
  }

  async function removeLocked(rule: LeaseRuleRecord, call: Call): Promise<LeaseRuleObject> {
    await rules.remove(rule);
    const removed = toRuleObject(rule);
    await audited(call, 'deleted', removed, null);
    return removed;
  }

  return {
    add,
    removeLocked,
    lockLicense,

    async list({ cursor, limit, license: ref }: RequestOf<typeof leaseRuleContract.listLeaseRules>) {
      const license = ref === undefined ? null : requireLicense(await licenses.find(byRef(ref)));
      const rows = await rules.list(license?.id ?? null, CURSOR.read(cursor), limit);
      return toPage(rows, limit, toRuleObject, (row) =>
        CURSOR.write({ license: row.licenseId, position: row.position }),
      );
    },

    create: (
      { license: ref, position, ...rule }: RequestOf<typeof leaseRuleContract.createLeaseRule>,
      call: Call,
    ): Promise<{ rule: LeaseRuleObject }> =>
      transaction(async () => {
        const license = await lockLicense(byRef(ref));
        return { rule: await add(license, rule, call, position) };
      }),

    /** Writes nothing if nothing changes, so that a repeated call adds no audit entry. */
    update: (
      {
        id,
        match: replacement,
        match_changes: changes,
        position,
        ...request
      }: RequestOf<typeof leaseRuleContract.updateLeaseRule>,
      call: Call,
    ): Promise<{ rule: LeaseRuleObject }> =>
      transaction(async () => {
        const before = await mustFindForChange(id);
        const was = toRuleObject(before);
        const type = request.type ?? before.type;
        const units = request.units === undefined ? before.units : request.units;
        const match = changes ? changedMatch(replacement ?? was.match, changes) : replacement;
        checkUnits(type, units);
        checkMatch(type, match ?? was.match);
        const count = (await rules.listOf(before.licenseId)).length;
        const { licenseKey, groupName, groupKind, groupRevision, ...row } = before;
        const after: LeaseRuleRow = {
          ...row,
          type,
          units,
          note: request.note === undefined ? before.note : request.note,
          position: Math.min(position ?? before.position, count),
          ...(match === undefined ? {} : await matchColumns(match)),
        };
        if (JSON.stringify(after) === JSON.stringify(row)) return { rule: was };
        await rules.update({ ...after, updatedAt: clock.now() }, before.position);
        const rule = await present(id);
        await audited(call, 'updated', was, rule);
        return { rule };
      }),

    remove: (
      { id }: RequestOf<typeof leaseRuleContract.deleteLeaseRule>,
      call: Call,
    ): Promise<{ rule: LeaseRuleObject }> =>
      transaction(async () => ({ rule: await removeLocked(await mustFindForChange(id), call) })),
  };
}

export type LeaseRuleService = ReturnType<typeof createLeaseRuleService>;
