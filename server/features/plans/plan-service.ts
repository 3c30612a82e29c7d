// Plans. A change applies to existing licenses immediately.
import { cursorOf, NUMBER } from '#server/database/cursor.ts';
import { DuplicateRowError } from '#server/database/duplicate-row.ts';
import { toPage } from '#server/database/page.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import { tooMany } from '#server/wire/field-rules.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { MAX_FEATURES, type planContract, type PlanObject } from './plan-contract.ts';
import { type FloatingTerms, heartbeatSeconds } from '#server/rules/floating-terms.ts';
import type { Plan } from '#server/rules/plan.ts';
import type { PlanChanges, PlanStore } from './plan-store.ts';

interface Needs {
  plans: PlanStore;
  licenses: {
    /** Whether any license uses the plan. */
    hasPlan(planId: number): Promise<boolean>;
    /** Moves the end of the grace period of the plan's licenses. */
    moveGraceEnd(planId: number, graceMs: number, now: number): Promise<void>;
  };
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

type NewPlan = RequestOf<typeof planContract.createPlan>;
type FloatingField =
  | 'licensing'
  | 'seats'
  | 'lease_seconds'
  | 'count_by'
  | 'overdraft_seats'
  | 'borrow_max_hours'
  | 'borrow_max_count'
  | 'borrow_keep_free'
  | 'linger_seconds';

function toPlanObject(plan: Plan): PlanObject {
  return {
    id: plan.id,
    name: plan.name,
    display_name: plan.displayName,
    product: plan.product,
    tier: plan.tier,
    duration_days: plan.durationDays,
    grace_days: plan.graceDays,
    max_activations: plan.maxActivations,
    features: plan.features,
    archived: plan.archivedAt !== null,
    licensing: plan.licensing,
    seats: plan.seats,
    lease_seconds: plan.leaseSeconds,
    heartbeat_seconds: heartbeatSeconds(plan),
    count_by: plan.countBy,
    overdraft_seats: plan.overdraftSeats,
    borrow_max_hours: plan.borrowMaxHours,
    borrow_max_count: plan.borrowMaxCount,
    borrow_keep_free: plan.borrowKeepFree,
    linger_seconds: plan.lingerSeconds,
  };
}

/** The fields of floating licenses in a request; undefined where it changes nothing. */
function floatingFields(request: { [Name in FloatingField]?: NewPlan[Name] | undefined }) {
  return {
    licensing: request.licensing,
    seats: request.seats,
    leaseSeconds: request.lease_seconds,
    countBy: request.count_by,
    overdraftSeats: request.overdraft_seats,
    borrowMaxHours: request.borrow_max_hours,
    borrowMaxCount: request.borrow_max_count,
    borrowKeepFree: request.borrow_keep_free,
    lingerSeconds: request.linger_seconds,
  };
}

interface FeatureChanges {
  features?: string[] | undefined;
  add_features?: string[] | undefined;
  remove_features?: string[] | undefined;
}

/** @returns undefined if none is given @throws ApiError `invalid_request` if there are too many */
function changedFeatures(
  before: readonly string[],
  { features, add_features: added = [], remove_features: removed = [] }: FeatureChanges,
): string[] | undefined {
  if (added.length === 0 && removed.length === 0) return features;
  const kept = (features ?? before).filter((name) => !removed.includes(name));
  const changed = [...new Set([...kept, ...added])];
  if (changed.length <= MAX_FEATURES) return changed;
  throw refusedField('features', tooMany(MAX_FEATURES));
}

/** By tier, then id. */
const CURSOR = cursorOf({ tier: NUMBER, id: NUMBER });

/** @throws ApiError `plan_exists` if that is the error, or else the error */
function refuseTaken(error: unknown, name: string): never {
  if (error instanceof DuplicateRowError)
    throw new ApiError('plan_exists', `a plan named ${name} already exists`);
  throw error;
}

function given<Value extends object>(changes: Value): Partial<Value> {
  return Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  ) as Partial<Value>;
}

export function createPlanService({ plans, licenses, audit, transaction, clock }: Needs) {
  async function mustFindForChange(reference: {
    id?: number | undefined;
    name?: string | undefined;
  }): Promise<Plan> {
    const { id, name } = reference;
    const plan = await plans.findForChange(id === undefined ? { name: name ?? '' } : { id });
    if (!plan) throw new ApiError('plan_not_found', `plan ${id ?? name} not found`);
    return plan;
  }

  return {
    async list({ cursor, limit }: RequestOf<typeof planContract.listPlans>) {
      const rows = await plans.list(CURSOR.read(cursor), limit);
      const page = toPage(rows, limit, toPlanObject, CURSOR.write);
      return { plans: page.items, ...page };
    },

    create: (request: RequestOf<typeof planContract.createPlan>, call: Call): Promise<{ plan: PlanObject }> =>
      transaction(async () => {
        const now = clock.now();
        const plan = await plans
          .insert({
            name: request.name,
            displayName: request.display_name ?? request.name,
            product: request.product,
            tier: request.tier,
            durationDays: request.duration_days,
            graceDays: request.grace_days,
            maxActivations: request.max_activations,
            features: request.features,
            archivedAt: request.archived ? now : null,
            createdAt: now,
            ...(floatingFields(request) as FloatingTerms & Pick<Plan, 'licensing'>),
          })
          .catch((error: unknown) => refuseTaken(error, request.name));
        await audit.record(call, 'plan.created', `plan:${plan.id}`, null, toPlanObject(plan));
        return { plan: toPlanObject(plan) };
      }),

    /** Writes nothing if nothing changes, so that a repeated call adds no audit entry. */
    update: (request: RequestOf<typeof planContract.updatePlan>, call: Call): Promise<{ plan: PlanObject }> =>
      transaction(
        async () => {
          const before = await mustFindForChange(request);
          // With `id`, `name` is the new name; without it, `new_name` is.
          const name = request.new_name ?? (request.id === undefined ? undefined : request.name);
          for (const field of ['product', 'licensing'] as const) {
            const isChanged = request[field] !== undefined && request[field] !== before[field];
            if (isChanged && (await licenses.hasPlan(before.id)))
              throw new ApiError(
                'plan_in_use',
                `plan ${before.name} has licenses, so its ${field} cannot change`,
              );
          }
          const changes: PlanChanges = given({
            name,
            displayName: request.display_name,
            product: request.product,
            tier: request.tier,
            durationDays: request.duration_days,
            graceDays: request.grace_days,
            maxActivations: request.max_activations,
            features: changedFeatures(before.features, request),
            ...floatingFields(request),
            ...(request.archived === undefined
              ? {}
              : { archivedAt: request.archived ? (before.archivedAt ?? clock.now()) : null }),
          }) as PlanChanges;
          const plan: Plan = { ...before, ...changes };
          if (JSON.stringify(plan) === JSON.stringify(before)) return { plan: toPlanObject(before) };
          await plans.update(before.id, changes).catch((error: unknown) => refuseTaken(error, plan.name));
          if (plan.graceDays !== before.graceDays)
            await licenses.moveGraceEnd(plan.id, plan.graceDays * DAY_MS, clock.now());
          await audit.record(
            call,
            'plan.updated',
            `plan:${plan.id}`,
            toPlanObject(before),
            toPlanObject(plan),
          );
          return { plan: toPlanObject(plan) };
        },
        undefined,
        // A new grace period concerns every license of the plan.
        { alone: request.grace_days !== undefined },
      ),

    remove: (request: RequestOf<typeof planContract.deletePlan>, call: Call): Promise<{ plan: PlanObject }> =>
      transaction(async () => {
        const plan = await mustFindForChange(request);
        if (request.name !== undefined && request.name !== plan.name)
          throw new ApiError('plan_not_found', `plan ${plan.id} is not named ${request.name}`);
        if (await licenses.hasPlan(plan.id)) {
          throw new ApiError('plan_in_use', `plan ${plan.name} has licenses; archive it instead`);
        }
        await plans.remove(plan.id);
        await audit.record(call, 'plan.deleted', `plan:${plan.id}`, toPlanObject(plan), null);
        return { plan: toPlanObject(plan) };
      }),
  };
}

export type PlanService = ReturnType<typeof createPlanService>;
