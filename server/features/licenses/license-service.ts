// Issues, renews, upgrades and revokes licenses.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { toPage } from '#server/database/page.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Events } from '#server/features/events/event-service.ts';
import type { Plan } from '#server/rules/plan.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { licenseAdminContract } from './license-contract.ts';
import { fromCursor, toCursor } from './license-cursor.ts';
import {
  draftLicense,
  issuedLicense,
  refuseBeyondCalendar,
  refuseChangedEnd,
  refuseEarlierEnd,
  refuseOtherProduct,
  usablePlan,
} from '#server/rules/license-draft.ts';
import { floatingTerms } from '#server/rules/floating-terms.ts';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import {
  firstNoticeAt,
  graceEndsAt,
  noticeAfterUpgrade,
  renewedExpiry,
} from '#server/rules/license-lifecycle.ts';
import { toLicenseRecord } from '#server/rules/license-presenter.ts';
import type { LicenseFilter } from './license-query.ts';
import { requireLicense } from '#server/rules/license-reference.ts';
import { refuseRevoked } from '#server/rules/license-refusals.ts';
import type { ChangeLicense } from './license-change.ts';
import type { License, LicenseReference } from '#server/rules/license.ts';
import type { LicenseStore, ListedLicense } from './license-store.ts';

interface Needs {
  licenses: LicenseStore;
  changeLicense: ChangeLicense;
  /** Keeps the plan from changing until the transaction ends. */
  findPlan(name: string): Promise<Plan | null>;
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  defaultProduct: string;
}

interface Renewal {
  days?: number | undefined;
  /** Epoch milliseconds. */
  expires_at?: number | undefined;
  /** Allows an expiry date before the current one. */
  shorten?: boolean | undefined;
  /** The expiry date that the license must have. */
  if_expires_at?: number | undefined;
}

/** Counting stops here: exact larger numbers are not useful and take time. */
const COUNTED = 10_000;

function toFilter(request: RequestOf<typeof licenseAdminContract.countLicenses>, now: number): LicenseFilter {
  const { state, search, plan, product, expires_within_days: expiresWithinDays } = request;
  return { state, search, plan, product, expiresWithinDays, now };
}

export function createLicenseService(needs: Needs) {
  const { licenses, changeLicense, audit, events, transaction, clock } = needs;

  async function mustFind(reference: LicenseReference): Promise<License> {
    return requireLicense(await licenses.find(reference));
  }

  async function mustFindPlan(name: string): Promise<Plan> {
    return usablePlan(name, await needs.findPlan(name));
  }

  async function recordChange(
    call: Call,
    action: string,
    before: License | null,
    after: License,
  ): Promise<void> {
    const now = clock.now();
    const was = before && toLicenseRecord(before, now);
    await audit.record(call, action, `license:${after.id}`, was, toLicenseRecord(after, now));
  }

  return {
    create: (request: RequestOf<typeof licenseAdminContract.createLicense>, call: Call) =>
      transaction(async () => {
        const now = clock.now();
        const plan = await mustFindPlan(request.plan);
        const draft = draftLicense(request, plan, {
          now,
          licenseKey: generateLicenseKey(),
          defaultProduct: needs.defaultProduct,
        });
        const license = issuedLicense(await licenses.insert(draft), draft, plan);
        await recordChange(call, 'license.created', null, license);
        return { license: toLicenseRecord(license, now) };
      }),

    async show(reference: LicenseReference) {
      return { license: toLicenseRecord(await mustFind(reference), clock.now()) };
    },

    async list(request: RequestOf<typeof licenseAdminContract.listLicenses>) {
      const { sort, order = sort === 'created' ? 'desc' : 'asc', cursor, limit } = request;
      const sequence = { sort, order };
      const filter = toFilter(request, clock.now());
      const rows = await licenses.list({
        ...filter,
        ...sequence,
        after: fromCursor(cursor, sequence),
        limit,
      });
      const present = (license: ListedLicense) => ({
        ...toLicenseRecord(license, filter.now),
        seats_in_use: license.seatsInUse,
      });
      return toPage(rows, limit, present, (last) => toCursor(sequence, last));
    },

    async count(request: RequestOf<typeof licenseAdminContract.countLicenses>) {
      const count = await licenses.count(toFilter(request, clock.now()), COUNTED + 1);
      return { count: Math.min(count, COUNTED), exact: count <= COUNTED };
    },

    renew: (reference: LicenseReference, renewal: Renewal, call: Call) =>
      changeLicense(reference, async (before) => {
        const now = clock.now();
        refuseRevoked(before, now);
        refuseChangedEnd(before.expiresAt, renewal.if_expires_at);
        const { durationDays, graceDays } = before;
        const expiresAt = renewedExpiry({
          expiresAt: before.expiresAt,
          now,
          durationDays,
          days: renewal.days,
          explicit: renewal.expires_at,
        });
        refuseBeyondCalendar(expiresAt);
        if (!renewal.shorten) refuseEarlierEnd(before.expiresAt, expiresAt);
        const term = { expiresAt, graceEndsAt: graceEndsAt(expiresAt, graceDays), term: before.term + 1 };
        const renewed: License = {
          ...before,
          ...term,
          noticeDueAt: firstNoticeAt({ ...term, revokedAt: null }),
        };
        await licenses.update(before.id, {
          expiresAt: renewed.expiresAt,
          term: renewed.term,
          noticeDueAt: renewed.noticeDueAt,
        });
        await events.emit({
          name: 'license.renewed',
          license: renewed,
          extra: { previous_expires_at: toTimestamp(before.expiresAt) },
        });
        await recordChange(call, 'license.renewed', before, renewed);
        return {
          license: toLicenseRecord(renewed, now),
          previous_expires_at: toTimestamp(before.expiresAt),
        };
      }),

    upgrade: (reference: LicenseReference, planName: string, call: Call) =>
      changeLicense(reference, async (before) => {
        const now = clock.now();
        refuseRevoked(before, now);
        const plan = await mustFindPlan(planName);
        if (plan.id === before.planId)
          throw new ApiError('plan_unchanged', `the license is already on plan ${plan.name}`);
        if (plan.tier <= before.tier) {
          throw new ApiError(
            'not_an_upgrade',
            `plan ${plan.name} must have a higher tier than ${before.plan}`,
          );
        }
        refuseOtherProduct(plan, before.product);
        const graceEnd = graceEndsAt(before.expiresAt, plan.graceDays);
        const noticeDueAt = noticeAfterUpgrade(before, graceEnd, now);
        const { id: planId, name, tier, durationDays, graceDays, maxActivations, features } = plan;
        const terms = floatingTerms(plan, before);
        const granted = {
          planId,
          plan: name,
          tier,
          durationDays,
          graceDays,
          maxActivations,
          features,
          licensing: plan.licensing,
          terms,
        };
        const upgraded: License = { ...before, ...granted, graceEndsAt: graceEnd, noticeDueAt };
        await licenses.update(before.id, { planId, noticeDueAt });
        await events.emit({
          name: 'license.upgraded',
          license: upgraded,
          extra: { previous_plan: before.plan },
        });
        await recordChange(call, 'license.upgraded', before, upgraded);
        return { license: toLicenseRecord(upgraded, now), previous_plan: before.plan };
      }),

    /** Revoking again changes nothing and sends no event. */
    revoke: (reference: LicenseReference, reason: string | undefined, call: Call) =>
      changeLicense(reference, async (before) => {
        const now = clock.now();
        if (before.revokedAt !== null) return { license: toLicenseRecord(before, now) };
        const change = { revokedAt: now, revokeReason: reason ?? null, noticeDueAt: null };
        const revoked: License = { ...before, ...change };
        await licenses.update(before.id, change);
        await events.emit({ name: 'license.revoked', license: revoked, extra: { reason: reason ?? null } });
        await recordChange(call, 'license.revoked', before, revoked);
        return { license: toLicenseRecord(revoked, now) };
      }),
  };
}

export type LicenseService = ReturnType<typeof createLicenseService>;
