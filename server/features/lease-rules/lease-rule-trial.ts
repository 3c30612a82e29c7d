// What a checkout would get now, without doing it.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { HeldSeat } from '#server/features/leases/lease-judge.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { seatLimit } from '#server/rules/floating-terms.ts';
import { byRef, licenseNotFound } from '#server/rules/license-reference.ts';
import { licenseVerdict, RULES_FOR } from '#server/rules/license-verdict.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import type { ErrorCode } from '#server/wire/errors.ts';
import type { LeaseRuleBook } from './lease-rule-book.ts';
import type { leaseRuleContract } from './lease-rule-contract.ts';
import { toRuleObject } from './lease-rule-presenter.ts';

export interface SeatsInUse {
  /** Everyone who takes a seat of the license now. */
  holdersOf(licenseId: number): Promise<readonly HeldSeat[]>;
  /** Units of the seat that this client would share. */
  sharedUnits(license: License, client: Omit<TrialRequest, 'license' | 'units'>): Promise<number>;
}

interface Needs extends SeatsInUse {
  book: LeaseRuleBook;
  licenses: Pick<LicenseStore, 'find'>;
  transaction: RunTransaction;
  clock: Clock;
}

type TrialRequest = RequestOf<typeof leaseRuleContract.tryLeaseRules>;
type Trial = ReplyOf<typeof leaseRuleContract.tryLeaseRules>;

function licenseProblem(license: License, now: number): ErrorCode | null {
  if (license.licensing !== 'floating') return 'license_is_node_locked';
  return licenseVerdict(RULES_FOR.signing, { license, now });
}

export function createLeaseRuleTrial(needs: Needs) {
  const { book, licenses, holdersOf, transaction, clock } = needs;
  return {
    /** In a transaction, so that rules and seats are those of one moment. */
    run: ({ license: ref, units: asked, ...request }: TrialRequest): Promise<Trial> =>
      transaction(async () => {
        const license = await licenses.find(byRef(ref));
        if (!license) throw licenseNotFound();
        const { records, compiled } = await book.open(license.id);
        const requester = {
          user: request.user ?? null,
          host: request.host ?? null,
          address: request.address ?? null,
        };
        const matching = compiled.matching(requester).map(({ id }) => id);
        const about = {
          matching: records.filter(({ id }) => matching.includes(id)).map((record) => toRuleObject(record)),
        };
        const problem = licenseProblem(license, clock.now());
        if (problem === 'license_is_node_locked')
          return { ...about, granted: false, reason: problem, decided_by: null, pool: null };

        const holders = await holdersOf(license.id);
        const inUse = holders.reduce((total, holder) => total + holder.units, 0);
        const limit = seatLimit(license.terms);
        const { seats } = license.terms;
        const free = limit === null ? 0 : Math.max(0, limit - inUse);
        const reserved = Math.min(compiled.reservedUnits({ limit, holders }), free);
        const pool = {
          total: seats,
          in_use: inUse,
          available: seats === null ? null : Math.max(0, seats - inUse - reserved),
          reserved,
        };
        if (problem) return { ...about, granted: false, reason: problem, decided_by: null, pool };
        const units = Math.max(0, asked - (await needs.sharedUnits(license, request)));
        const verdict = compiled.judge({ requester, units, limit, holders });
        const ruleId = verdict.outcome === 'granted' ? compiled.accessRule(requester)?.id : verdict.rule;
        const decider = records.find(({ id }) => id === ruleId);
        const decided_by = decider ? toRuleObject(decider) : null;
        if (verdict.outcome === 'granted') return { ...about, granted: true, reason: null, decided_by, pool };
        return {
          ...about,
          granted: false,
          reason: verdict.outcome === 'denied' ? 'denied_by_rule' : 'no_seat_available',
          decided_by,
          pool,
        };
      }),
  };
}

export type LeaseRuleTrial = ReturnType<typeof createLeaseRuleTrial>;
