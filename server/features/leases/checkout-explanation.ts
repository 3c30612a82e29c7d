// Explains the outcome of every rule of a checkout to an administrator, including those after the first failure.
import type { RuleInputs } from '#server/features/activations/activation-contract.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { byRef, licenseNotFound } from '#server/rules/license-reference.ts';
import { licenseVerdict, type RuleOutcome, ruleOutcome, RULES_FOR } from '#server/rules/license-verdict.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { draftLease, type LeaseDraft } from './lease-draft.ts';
import type { CheckoutRemedy, leaseExplainContract } from './lease-explain-contract.ts';
import { holdsSeat, type LeaseRow } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import type { SeatClaims } from './seat-claims.ts';
import type { OpenPool, SeatPools } from './seat-pools.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  leases: Pick<LeaseStore, 'findByInstance' | 'waiting'>;
  pools: Pick<SeatPools, 'look' | 'missingUnits' | 'verdict' | 'fits' | 'isInLine' | 'toObject'>;
  claims: SeatClaims;
  clock: Clock;
}

type Request = RequestOf<typeof leaseExplainContract.explainCheckout>;
type Reply = ReplyOf<typeof leaseExplainContract.explainCheckout>;
type Explained = Reply['rules'][number];

/** An instance that no client has. */
const NEW_INSTANCE = 'explained-instance';
const WAITING_READ = 200;
/** What a client needs that has a seat. */
const HELD = { units: 0, free: 0, lingering: null };

export function createCheckoutExplanation({ licenses, leases, pools, claims, clock }: Needs) {
  function toRule(
    rule: Explained['rule'],
    outcome: RuleOutcome,
    inputs: RuleInputs,
    remedy: CheckoutRemedy,
  ): Explained {
    return { rule, outcome, inputs, remedy: outcome === 'failed' ? remedy : null };
  }

  function licenseRules(license: License, { product_slug: product, feature }: Request): Explained[] {
    const now = clock.now();
    const question = { license, product, feature, now };
    const { revokedAt, expiresAt, graceEndsAt, features, licensing } = license;
    const term = {
      expires_at: toTimestamp(expiresAt),
      grace_ends_at: toTimestamp(graceEndsAt),
      now: toTimestamp(now),
    };
    return [
      toRule(
        'not_revoked',
        ruleOutcome('not_revoked', question),
        { revoked_at: toTimestampOrNull(revokedAt) },
        'new_license',
      ),
      toRule('in_term', ruleOutcome('in_term', question), term, 'renew'),
      toRule(
        'product',
        ruleOutcome('product', question),
        { licensed: license.product, asked: product ?? null },
        'other_product',
      ),
      toRule(
        'feature',
        ruleOutcome('feature', question),
        { included: [...features], asked: feature ?? null },
        'upgrade',
      ),
      toRule('licensing', licensing === 'floating' ? 'passed' : 'failed', { licensing }, 'activate'),
    ];
  }

  /** Clients in the queue that a checkout must not overtake. */
  async function waitingAhead(pool: OpenPool, live: LeaseRow | null): Promise<number> {
    if (pool.row.queued === 0) return 0;
    let ahead = 0;
    for (const waiting of await leases.waiting(pool.license.id, 0, WAITING_READ)) {
      if (live && waiting.id >= live.id) break;
      const units = await pools.missingUnits(pool, waiting);
      if (await pools.isInLine(pool, waiting, units)) ahead += 1;
    }
    return ahead;
  }

  async function seatRules(pool: OpenPool, draft: LeaseDraft, live: LeaseRow | null) {
    // A client that holds a lease gets it again; rules and seats are not asked.
    const isHeld = live !== null && holdsSeat(live);
    const { units, free, lingering } = isHeld ? HELD : await claims(pool, draft);
    const verdict = await pools.verdict(pool, { ...draft, takesOver: lingering?.id }, units);
    const ahead = free <= 0 ? 0 : await waitingAhead(pool, live);
    const asked = (isMet: boolean): RuleOutcome => (isHeld ? 'not_asked' : isMet ? 'passed' : 'failed');
    const decided = verdict.outcome === 'allowed' || verdict.ruleId === null ? null : verdict;
    const { inUse } = pool.row;
    const { seats, overdraftSeats } = pool.license.terms;
    const rules = [
      toRule(
        'lease_rules',
        asked(decided === null),
        {
          rule_id: decided?.ruleId ?? null,
          rule: decided?.rule ?? null,
          user: draft.userName,
          host: draft.host,
        },
        'change_lease_rules',
      ),
      toRule('queue', asked(ahead === 0), { waiting_ahead: ahead }, 'wait'),
      toRule(
        'seat',
        asked(units === 0 || pools.fits(pool, free)),
        { units_needed: Math.max(0, free), in_use: inUse, seats, overdraft_seats: overdraftSeats },
        'reclaim_or_add_seats',
      ),
    ];
    return { rules, isDenied: !isHeld && verdict.outcome === 'denied' };
  }

  /** Uses the same rules as a checkout, without taking a seat or recording a denial. */
  return async (request: Request): Promise<Reply> => {
    const license = await licenses.find(byRef(request.license));
    if (!license) throw licenseNotFound();
    const { product_slug: product, feature, instance_id: instance = NEW_INSTANCE, address = null } = request;
    const rules = licenseRules(license, request);
    const refused = licenseVerdict(RULES_FOR.lease, { license, product, feature, now: clock.now() });
    if (license.licensing !== 'floating') {
      const reason = refused ?? 'license_is_node_locked';
      return { granted: false, reason, counted_as: null, rules, pool: null };
    }
    const claim = {
      ...request,
      license_key: license.licenseKey,
      instance_id: instance,
      units: request.units ?? 1,
      wait_seconds: 0,
      encrypt: false,
    };
    const draft = draftLease(claim, license, address);
    const pool = await pools.look(license);
    const live = await leases.findByInstance(license.id, instance);
    const seat = await seatRules(pool, draft, live);
    const hasNone = seat.rules.some(({ outcome }) => outcome === 'failed');
    const reason = refused ?? (seat.isDenied ? 'denied_by_rule' : hasNone ? 'no_seat_available' : null);
    return {
      granted: reason === null,
      reason,
      counted_as: live?.seatKey ?? draft.seatKey,
      rules: [...rules, ...seat.rules],
      pool: await pools.toObject(pool),
    };
  };
}

export type CheckoutExplanation = ReturnType<typeof createCheckoutExplanation>;
