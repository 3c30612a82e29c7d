// Issuing, renewing, upgrading and revoking licenses.
import type { Audit } from '../audit/audit-service.ts';
import { idFromCursor, toPage } from '../database/page.ts';
import type { RunTransaction } from '../database/transaction.ts';
import type { Events } from '../events/event-service.ts';
import type { Plan } from '../plans/plan-store.ts';
import type { Call } from '../platform/call.ts';
import type { Clock } from '../platform/clock.ts';
import type { RequestOf } from '../platform/endpoint.ts';
import { ApiError } from '../platform/errors.ts';
import { LAST_MOMENT, toTimestamp } from '../platform/fields.ts';
import type { licenseAdminContract } from './license-contract.ts';
import { generateLicenseKey } from './license-key.ts';
import { firstNoticeAt, graceEndsAt, noticeAfterUpgrade, renewedExpiry } from './license-lifecycle.ts';
import { toLicenseRecord } from './license-presenter.ts';
import { licenseNotFound } from './license-reference.ts';
import { foldForSearch } from './license-search.ts';
import type { License, LicenseReference, LicenseStore } from './license-store.ts';

interface Needs {
  licenses: LicenseStore;
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
}

export function createLicenseService(needs: Needs) {
  const { licenses, audit, events, transaction, clock } = needs;

  async function mustFind(reference: LicenseReference): Promise<License> {
    const license = await licenses.find(reference);
    if (!license) throw licenseNotFound();
    return license;
  }

  /** Locked until the transaction ends. */
  async function mustFindForChange(reference: LicenseReference): Promise<License> {
    const license = await licenses.findForChange(reference);
    if (!license) throw licenseNotFound();
    return license;
  }

  function refuseRevoked(license: License): void {
    if (license.revokedAt !== null)
      throw new ApiError('license_revoked', 'the license is revoked', { status: 409 });
  }

  async function mustFindPlan(name: string): Promise<Plan> {
    const plan = await needs.findPlan(name);
    if (!plan) throw new ApiError('plan_not_found', `there is no plan ${name}`);
    if (plan.archivedAt !== null) throw new ApiError('plan_not_found', `plan ${name} is archived`);
    return plan;
  }

  function refuseOtherProduct(plan: Plan, product: string): void {
    if (plan.product === null || plan.product === product) return;
    throw new ApiError('product_mismatch', `plan ${plan.name} is for ${plan.product}, not for ${product}`);
  }

  /** Where renewals add up. @throws ApiError `invalid_request` */
  function refuseBeyondCalendar(expiresAt: number): void {
    if (expiresAt > LAST_MOMENT) {
      throw new ApiError('invalid_request', `days: the license would end after ${toTimestamp(LAST_MOMENT)}`);
    }
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
        const product = request.product ?? plan.product ?? needs.defaultProduct;
        refuseOtherProduct(plan, product);
        const expiresAt = renewedExpiry({
          expiresAt: now,
          now,
          durationDays: plan.durationDays,
          days: request.days,
          explicit: request.expires_at,
        });
        refuseBeyondCalendar(expiresAt);
        const moments = { revokedAt: null, expiresAt, graceEndsAt: graceEndsAt(expiresAt, plan.graceDays) };
        const id = await licenses.insert({
          licenseKey: generateLicenseKey(),
          holder: request.holder,
          email: request.email ?? null,
          searchText: foldForSearch(`${request.holder}\n${request.email ?? ''}`),
          product,
          planId: plan.id,
          issuedAt: now,
          expiresAt,
          firstActivatedAt: null,
          revokedAt: null,
          revokeReason: null,
          term: 1,
          noticeDueAt: firstNoticeAt(moments),
        });
        const license = await mustFind({ id });
        await recordChange(call, 'license.created', null, license);
        return { license: toLicenseRecord(license, now) };
      }),

    async show(reference: LicenseReference) {
      return { license: toLicenseRecord(await mustFind(reference), clock.now()) };
    },

    async list(request: RequestOf<typeof licenseAdminContract.listLicenses>) {
      const { state, search, cursor, limit } = request;
      const now = clock.now();
      const rows = await licenses.list({ state, search, before: idFromCursor(cursor), limit, now });
      return toPage(rows, limit, (license) => toLicenseRecord(license, now));
    },

    renew: (reference: LicenseReference, renewal: Renewal, call: Call) =>
      transaction(async () => {
        const now = clock.now();
        const before = await mustFindForChange(reference);
        refuseRevoked(before);
        const { durationDays, graceDays } = before;
        const expiresAt = renewedExpiry({
          expiresAt: before.expiresAt,
          now,
          durationDays,
          days: renewal.days,
          explicit: renewal.expires_at,
        });
        refuseBeyondCalendar(expiresAt);
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
      transaction(async () => {
        const now = clock.now();
        const before = await mustFindForChange(reference);
        refuseRevoked(before);
        const plan = await mustFindPlan(planName);
        if (plan.id === before.planId)
          throw new ApiError('plan_unchanged', `the license is on plan ${plan.name} already`);
        if (plan.tier <= before.tier) {
          throw new ApiError('not_an_upgrade', `plan ${plan.name} is of no higher tier than ${before.plan}`);
        }
        refuseOtherProduct(plan, before.product);
        const graceEnd = graceEndsAt(before.expiresAt, plan.graceDays);
        const noticeDueAt = noticeAfterUpgrade(before, graceEnd, now);
        const { id: planId, name, tier, durationDays, graceDays, maxActivations, features } = plan;
        const granted = { planId, plan: name, tier, durationDays, graceDays, maxActivations, features };
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

    /** Revoking again changes nothing and tells nobody. */
    revoke: (reference: LicenseReference, reason: string | undefined, call: Call) =>
      transaction(async () => {
        const now = clock.now();
        const before = await mustFindForChange(reference);
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
