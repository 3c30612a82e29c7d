import { type Handlers, implement, type Route } from '#server/platform/route.ts';
import type { Contract } from '#server/wire/endpoint.ts';
import type { leaseGroupContract } from './lease-group-contract.ts';
import type { LeaseGroupService } from './lease-group-service.ts';
import type { leaseRuleContract } from './lease-rule-contract.ts';
import type { LeaseRuleService } from './lease-rule-service.ts';
import type { LeaseRuleTrial } from './lease-rule-trial.ts';
import type { optionsImportContract } from './options-import-contract.ts';
import type { OptionsImport } from './options-import-service.ts';

type Rows = typeof leaseRuleContract & typeof leaseGroupContract & typeof optionsImportContract;

interface Services {
  rules: LeaseRuleService;
  groups: LeaseGroupService;
  trial: LeaseRuleTrial;
  imports: OptionsImport;
}

/** @param rows the public endpoints, or the same endpoints on the admin listener */
export function leaseRuleRoutes(rows: Rows & Contract, { rules, groups, trial, imports }: Services): Route[] {
  const handlers: Handlers<Rows> = {
    listLeaseRules: (request) => rules.list(request),
    createLeaseRule: (request, call) => rules.create(request, call),
    updateLeaseRule: (request, call) => rules.update(request, call),
    deleteLeaseRule: (request, call) => rules.remove(request, call),
    tryLeaseRules: (request) => trial.run(request),
    importLeaseRules: (request, call) => imports.run(request, call),
    listLeaseGroups: (request) => groups.list(request),
    createLeaseGroup: (request, call) => groups.create(request, call),
    updateLeaseGroup: (request, call) => groups.update(request, call),
    deleteLeaseGroup: (request, call) => groups.remove(request, call),
  };
  return implement(rows, handlers);
}
