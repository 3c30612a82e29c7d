// Explains the outcome of every rule of a checkout to an administrator, including those after the first failure.
import type { RuleInputs } from '#server/features/activations/activation-contract.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { byRef, requireLicense } from '#server/rules/license-reference.ts';
import { licenseVerdict, type RuleOutcome, ruleOutcome, RULES_FOR } from '#server/rules/license-verdict.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { CheckoutForecast, Forecast } from './checkout-forecast.ts';
import type { CheckoutRemedy, leaseExplainContract } from './lease-explain-contract.ts';
import type { SeatPools } from './seat-pools.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  pools: Pick<SeatPools, 'toObject'>;
  forecast: CheckoutForecast;
  clock: Clock;
}

type Request = RequestOf<typeof leaseExplainContract.explainCheckout>;
type Reply = ReplyOf<typeof leaseExplainContract.explainCheckout>;
type Explained = Reply['rules'][number];

export function createCheckoutExplanation({ licenses, pools, forecast, clock }: Needs) {
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

  function seatRules({ pool, draft, isHeld, verdict, ahead, free, hasSeats }: Forecast): Explained[] {
    // A client that holds a lease gets it again.
    const asked = (isMet: boolean): RuleOutcome => (isHeld ? 'not_asked' : isMet ? 'passed' : 'failed');
    const decided = verdict.outcome === 'allowed' || verdict.ruleId === null ? null : verdict;
    const { inUse } = pool.row;
    const { seats, overdraftSeats } = pool.license.terms;
    return [
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
        asked(hasSeats),
        { units_needed: Math.max(0, free), in_use: inUse, seats, overdraft_seats: overdraftSeats },
        'reclaim_or_add_seats',
      ),
    ];
  }

  return async (request: Request): Promise<Reply> => {
    const license = requireLicense(await licenses.find(byRef(request.license)));
    const { product_slug: product, feature } = request;
    const rules = licenseRules(license, request);
    const refused = licenseVerdict(RULES_FOR.lease, { license, product, feature, now: clock.now() });
    if (license.licensing !== 'floating') {
      const reason = refused ?? 'license_is_node_locked';
      return { granted: false, reason, counted_as: null, rules, pool: null };
    }
    const seat = await forecast(license, request, refused === null);
    const reason = refused ?? seat.reason;
    return {
      granted: reason === null,
      reason,
      counted_as: seat.countedAs,
      rules: [...rules, ...seatRules(seat)],
      pool: await pools.toObject(seat.pool),
    };
  };
}

export type CheckoutExplanation = ReturnType<typeof createCheckoutExplanation>;
