// Wires lease rules, groups and the import of options files.
import { adminContract, publicContract } from '#server/contract.ts';
import type { Database } from '#server/database/connect.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import { createLeaseGroupService } from '#server/features/lease-rules/lease-group-service.ts';
import { createLeaseGroupStore } from '#server/features/lease-rules/lease-group-store.ts';
import { createLeaseRuleBook } from '#server/features/lease-rules/lease-rule-book.ts';
import { leaseRuleRoutes } from '#server/features/lease-rules/lease-rule-routes.ts';
import { createLeaseRuleService } from '#server/features/lease-rules/lease-rule-service.ts';
import { createLeaseRuleStore } from '#server/features/lease-rules/lease-rule-store.ts';
import { createLeaseRuleTrial, type SeatForecast } from '#server/features/lease-rules/lease-rule-trial.ts';
import { createOptionsImport } from '#server/features/lease-rules/options-import-service.ts';
import type { LeaseJudge } from '#server/features/leases/lease-judge.ts';
import type { LicenseDetails } from '#server/features/licenses/license-details.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { PlanService } from '#server/features/plans/plan-service.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Route } from '#server/platform/route.ts';

interface Needs {
  licenses: LicenseStore;
  details: LicenseDetails;
  plans: PlanService;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

interface LeaseRules {
  /** Decides about each checkout. */
  judge: LeaseJudge;
  routes(seats: SeatForecast): {
    publicRoutes: Route[];
    adminRoutes: Route[];
  };
}

export function composeLeaseRules(sequelize: Database, needs: Needs): LeaseRules {
  const groups = createLeaseGroupStore(sequelize);
  const rules = createLeaseRuleStore(sequelize);
  const shared = { ...needs, groups, rules };
  const book = createLeaseRuleBook(shared);
  const ruleService = createLeaseRuleService(shared);
  const groupService = createLeaseGroupService(shared);
  const imports = createOptionsImport({ ...shared, ruleService, groupService });
  return {
    judge: book.judge,
    routes(seats) {
      const trial = createLeaseRuleTrial({ ...needs, ...seats, book });
      const services = { rules: ruleService, groups: groupService, trial, imports };
      return {
        publicRoutes: leaseRuleRoutes(publicContract, services),
        adminRoutes: leaseRuleRoutes(adminContract, services),
      };
    },
  };
}
