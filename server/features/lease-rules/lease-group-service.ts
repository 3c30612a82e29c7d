// Groups of users and hosts. A change applies from the next checkout.
import { DuplicateRowError } from '#server/database/duplicate-row.ts';
import { idFromCursor, toPage } from '#server/database/page.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { comparableName } from '#server/rules/lease-match.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { leaseGroupContract, LeaseGroupObject } from './lease-group-contract.ts';
import type { LeaseGroupRecord, LeaseGroupStore } from './lease-group-store.ts';
import { checkedMembers, checkRoomForGroup } from './lease-rule-checks.ts';

interface Needs {
  groups: LeaseGroupStore;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

function toGroupObject(group: LeaseGroupRecord): LeaseGroupObject {
  return {
    id: group.id,
    name: group.name,
    kind: group.kind,
    members: group.members,
    rule_count: group.ruleCount,
    created_at: toTimestamp(group.createdAt),
    updated_at: toTimestamp(group.updatedAt),
  };
}

function without(members: readonly string[], removed: readonly string[]): string[] {
  const names = new Set(removed.map((name) => comparableName(name)));
  return members.filter((name) => !names.has(comparableName(name)));
}

function inUse({ name, ruleCount }: LeaseGroupRecord): ApiError {
  const rules = ruleCount === 1 ? '1 lease rule names' : `${ruleCount} lease rules name`;
  return new ApiError('lease_group_in_use', `${rules} group ${name}; change or delete them first`);
}

/** @throws ApiError `lease_group_exists` if that is the error, or else the error */
function refuseTaken(error: unknown, name: string): never {
  if (error instanceof DuplicateRowError)
    throw new ApiError('lease_group_exists', `a group named ${name} already exists`);
  throw error;
}

/** The audit entry names the members that change, not all of them. */
function audited(group: LeaseGroupRecord, other: LeaseGroupRecord | null) {
  const { name, kind, members } = group;
  return { name, kind, member_count: members.length, members: without(members, other?.members ?? []) };
}

export function createLeaseGroupService({ groups, audit, transaction, clock }: Needs) {
  async function mustFindForChange(reference: {
    id?: number | undefined;
    name?: string | undefined;
  }): Promise<LeaseGroupRecord> {
    const { id, name } = reference;
    const group = await groups.findForChange(id === undefined ? { name: name ?? '' } : { id });
    if (!group) throw new ApiError('lease_group_not_found', `group ${id ?? name} not found`);
    return group;
  }

  async function record(
    call: Call,
    action: string,
    before: LeaseGroupRecord | null,
    after: LeaseGroupRecord | null,
  ): Promise<void> {
    const subject = `lease_group:${(after ?? before)?.id}`;
    await audit.record(
      call,
      `lease_group.${action}`,
      subject,
      before && audited(before, after),
      after && audited(after, before),
    );
  }

  const create = (
    { name, kind, members }: RequestOf<typeof leaseGroupContract.createLeaseGroup>,
    call: Call,
  ): Promise<{ group: LeaseGroupObject }> =>
    transaction(async () => {
      checkRoomForGroup(await groups.count());
      const now = clock.now();
      const draft = { name, kind, members: checkedMembers(kind, members) };
      const group = await groups
        .insert({ ...draft, revision: 1, createdAt: now, updatedAt: now })
        .catch((error: unknown) => refuseTaken(error, name));
      await record(call, 'created', null, group);
      return { group: toGroupObject(group) };
    });

  /** Writes nothing if nothing changes, so that a repeated call adds no audit entry. */
  const update = (
    request: RequestOf<typeof leaseGroupContract.updateLeaseGroup>,
    call: Call,
  ): Promise<{ group: LeaseGroupObject }> =>
    transaction(async () => {
      const before = await mustFindForChange(request);
      // With `id`, `name` is the new name; without it, `new_name` is.
      const name =
        request.new_name ?? (request.id === undefined ? before.name : (request.name ?? before.name));
      const kept = without(request.members ?? before.members, request.remove_members ?? []);
      const members = checkedMembers(before.kind, [...kept, ...(request.add_members ?? [])]);
      if (name === before.name && JSON.stringify(members) === JSON.stringify(before.members))
        return { group: toGroupObject(before) };
      const after = { ...before, name, members, revision: before.revision + 1, updatedAt: clock.now() };
      await groups.update(after).catch((error: unknown) => refuseTaken(error, name));
      await record(call, 'updated', before, after);
      return { group: toGroupObject(after) };
    });

  return {
    create,
    update,
    async list({ cursor, limit }: RequestOf<typeof leaseGroupContract.listLeaseGroups>) {
      return toPage(await groups.list(idFromCursor(cursor), limit), limit, toGroupObject);
    },
    remove: (
      request: RequestOf<typeof leaseGroupContract.deleteLeaseGroup>,
      call: Call,
    ): Promise<{ group: LeaseGroupObject }> =>
      transaction(async () => {
        const group = await mustFindForChange(request);
        if (request.name !== undefined && request.name !== group.name)
          throw new ApiError('lease_group_not_found', `group ${group.id} is not named ${request.name}`);
        if (group.ruleCount > 0) throw inUse(group);
        await groups.remove(group.id);
        await record(call, 'deleted', group, null);
        return { group: toGroupObject(group) };
      }),
  };
}

export type LeaseGroupService = ReturnType<typeof createLeaseGroupService>;
