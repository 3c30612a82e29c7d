// Drafts a license: the same rules for a single one and for an import.
import type { CustomFields } from '#server/wire/custom-fields.ts';
import { ApiError, failureOfField, refusedField } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { LAST_MOMENT } from '#server/wire/instants.ts';
import { floatingTerms, NO_OWN_LIMITS, type OwnSeatLimits } from './floating-terms.ts';
import { firstNoticeAt, graceEndsAt, renewedExpiry } from './license-lifecycle.ts';
import { licenseSearchText } from './license-search.ts';
import type { License, NewLicense } from './license.ts';
import type { Plan } from './plan.ts';

/** A request for a new license, validated. */
export interface LicenseOrder extends SeatLimitFields {
  holder: string;
  email?: string | undefined;
  /** The plan's name. */
  plan: string;
  product?: string | undefined;
  order_number?: string | undefined;
  notes?: string | undefined;
  custom_fields?: CustomFields | undefined;
  days?: number | undefined;
  /** Epoch milliseconds. */
  expires_at?: number | undefined;
}

interface Issue {
  now: number;
  licenseKey: string;
  defaultProduct: string;
}

/** @throws ApiError `plan_not_found` */
export function usablePlan(name: string, plan: Plan | null): Plan {
  if (!plan)
    throw failureOfField('plan_not_found', 'plan', {
      message: `plan ${name} not found`,
      reason: 'plan_not_found',
      values: { plan: name },
    });
  if (plan.archivedAt !== null)
    throw failureOfField('plan_not_found', 'plan', {
      message: `plan ${name} is archived`,
      reason: 'plan_archived',
      values: { plan: name },
    });
  return plan;
}

/** @throws ApiError `product_mismatch` */
export function refuseOtherProduct(plan: Plan, product: string): void {
  if (plan.product === null || plan.product === product) return;
  throw failureOfField('product_mismatch', 'plan', {
    message: `plan ${plan.name} is for ${plan.product}, not for ${product}`,
    reason: 'other_product',
    values: { plan: plan.name, product: plan.product },
  });
}

/** Limits the expiry date, which renewals keep extending. @throws ApiError `invalid_request` */
export function refuseBeyondCalendar(expiresAt: number): void {
  if (expiresAt > LAST_MOMENT) {
    throw refusedField('days', {
      message: `the license would end after ${toTimestamp(LAST_MOMENT)}`,
      reason: 'ends_too_late',
    });
  }
}

/** Keeps a renewal from shortening a license by mistake. @throws ApiError `renewal_shortens` */
export function refuseEarlierEnd(expiresAt: number, renewedTo: number): void {
  if (renewedTo >= expiresAt) return;
  throw new ApiError(
    'renewal_shortens',
    `the license expires at ${toTimestamp(expiresAt)}, after the requested ${toTimestamp(renewedTo)}; an administrator can shorten it in the back office or with license renew --shorten`,
  );
}

/** Keeps an undo from taking back a later renewal as well. @throws ApiError `expiry_changed` */
export function refuseChangedEnd(expiresAt: number, expected = expiresAt): void {
  if (expiresAt === expected) return;
  throw new ApiError(
    'expiry_changed',
    `the expiry date was changed meanwhile; the license now expires at ${toTimestamp(expiresAt)}`,
  );
}

/** The fields of a request that override the plan's seat limits; null takes the plan's value. */
export interface SeatLimitFields {
  seats?: number | null | undefined;
  overdraft_seats?: number | null | undefined;
  borrow_max_hours?: number | null | undefined;
  borrow_max_count?: number | null | undefined;
  borrow_keep_free?: number | null | undefined;
}

/**
 * The overrides that a request sets; undefined fields keep `before`.
 * @throws ApiError `license_is_node_locked` for an override that would have no effect
 */
export function ownLimits(
  request: SeatLimitFields,
  { licensing }: Pick<Plan, 'licensing'>,
  before: OwnSeatLimits = NO_OWN_LIMITS,
): OwnSeatLimits {
  const {
    seats = before.ownSeats,
    overdraft_seats: overdraft = before.ownOverdraftSeats,
    borrow_max_hours: hours = before.ownBorrowMaxHours,
    borrow_max_count: count = before.ownBorrowMaxCount,
    borrow_keep_free: free = before.ownBorrowKeepFree,
  } = request;
  const given = [
    request.seats,
    request.overdraft_seats,
    request.borrow_max_hours,
    request.borrow_max_count,
    request.borrow_keep_free,
  ];
  if (licensing === 'node_locked' && given.some((value) => typeof value === 'number')) {
    const message = 'seat limits apply to floating licenses; the plan of this one is node-locked';
    throw new ApiError('license_is_node_locked', message);
  }
  return {
    ownSeats: seats,
    ownOverdraftSeats: overdraft,
    ownBorrowMaxHours: hours,
    ownBorrowMaxCount: count,
    ownBorrowKeepFree: free,
  };
}

/** @throws ApiError `product_mismatch`, `license_is_node_locked` or `invalid_request` */
export function draftLicense(
  order: Omit<LicenseOrder, 'plan'>,
  plan: Plan,
  { now, licenseKey, defaultProduct }: Issue,
): NewLicense {
  const product = order.product ?? plan.product ?? defaultProduct;
  refuseOtherProduct(plan, product);
  const expiresAt = renewedExpiry({
    expiresAt: now,
    now,
    durationDays: plan.durationDays,
    days: order.days,
    explicit: order.expires_at,
  });
  refuseBeyondCalendar(expiresAt);
  const customFields = order.custom_fields ?? {};
  return {
    licenseKey,
    holder: order.holder,
    email: order.email ?? null,
    orderNumber: order.order_number ?? null,
    notes: order.notes ?? null,
    customFields,
    searchText: licenseSearchText({
      holder: order.holder,
      email: order.email ?? null,
      orderNumber: order.order_number ?? null,
      customFields,
    }),
    product,
    planId: plan.id,
    issuedAt: now,
    expiresAt,
    firstActivatedAt: null,
    revokedAt: null,
    revokeReason: null,
    term: 1,
    ...ownLimits(order, plan),
    noticeDueAt: firstNoticeAt({
      revokedAt: null,
      expiresAt,
      graceEndsAt: graceEndsAt(expiresAt, plan.graceDays),
    }),
  };
}

/** The license that a draft has become, as reading it back would return it. */
export function issuedLicense(id: number, { searchText, ...draft }: NewLicense, plan: Plan): License {
  const { name, tier, durationDays, graceDays, maxActivations, features, licensing } = plan;
  return {
    ...draft,
    id,
    plan: name,
    tier,
    durationDays,
    graceDays,
    maxActivations,
    features,
    licensing,
    terms: floatingTerms(plan, draft),
    graceEndsAt: graceEndsAt(draft.expiresAt, graceDays),
    activationCount: 0,
    newestFingerprint: null,
  };
}
