// What a checkout would get now, without doing it.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Forecast, ForecastClient } from '#server/features/leases/checkout-forecast.ts';
import type { PoolObject } from '#server/features/leases/lease-contract.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { byRef, requireLicense } from '#server/rules/license-reference.ts';
import { licenseVerdict, RULES_FOR } from '#server/rules/license-verdict.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import type { ErrorCode } from '#server/wire/errors.ts';
import type { LeaseRuleBook } from './lease-rule-book.ts';
import type { leaseRuleContract } from './lease-rule-contract.ts';
import { toRuleObject } from './lease-rule-presenter.ts';

/** What floating licenses know about seats. */
export interface SeatForecast {
  poolOf(license: License): Promise<PoolObject>;
  /** What a checkout would get. @throws ApiError `invalid_request` */
  forecast(license: License, client: ForecastClient): Promise<Pick<Forecast, 'reason' | 'verdict'>>;
}

interface Needs extends SeatForecast {
  book: LeaseRuleBook;
  licenses: Pick<LicenseStore, 'find'>;
  transaction: RunTransaction;
  clock: Clock;
}

type TrialRequest = RequestOf<typeof leaseRuleContract.tryLeaseRules>;
type Trial = ReplyOf<typeof leaseRuleContract.tryLeaseRules>;

/** In the order of a checkout. */
function licenseProblem(license: License, now: number): ErrorCode | null {
  const reason = licenseVerdict(RULES_FOR.lease, { license, now });
  return reason ?? (license.licensing === 'floating' ? null : 'license_is_node_locked');
}

export function createLeaseRuleTrial(needs: Needs) {
  const { book, licenses, transaction, clock } = needs;
  return {
    /** In a transaction, so that rules and seats are those of one moment. */
    run: ({ license: ref, units, ...client }: TrialRequest): Promise<Trial> =>
      transaction(async () => {
        const license = requireLicense(await licenses.find(byRef(ref)));
        const { records, compiled } = await book.open(license.id);
        const requester = {
          user: client.user ?? null,
          host: client.host ?? null,
          address: client.address ?? null,
        };
        const matching = compiled.matching(requester).map(({ id }) => id);
        const about = {
          matching: records.filter(({ id }) => matching.includes(id)).map((record) => toRuleObject(record)),
        };
        const problem = licenseProblem(license, clock.now());
        if (license.licensing !== 'floating')
          return { ...about, granted: false, reason: problem, decided_by: null, pool: null };

        const { total, in_use, available, reserved } = await needs.poolOf(license);
        const seats = { ...about, pool: { total, in_use, available, reserved } };
        if (problem) return { ...seats, granted: false, reason: problem, decided_by: null };
        const { reason, verdict } = await needs.forecast(license, { ...client, units });
        const refusedBy = verdict.outcome === 'allowed' ? null : verdict.ruleId;
        const ruleId = reason === null ? compiled.accessRule(requester)?.id : refusedBy;
        const decider = records.find(({ id }) => id === ruleId);
        return {
          ...seats,
          granted: reason === null,
          reason,
          decided_by: decider ? toRuleObject(decider) : null,
        };
      }),
  };
}

export type LeaseRuleTrial = ReturnType<typeof createLeaseRuleTrial>;
