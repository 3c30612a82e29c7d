// Wires floating licenses with the rules about their seats.
import type { Database } from '#server/database/connect.ts';
import { composeLeaseRules } from './compose-lease-rules.ts';
import { composeLeases } from './compose-leases.ts';

type Needs = Parameters<typeof composeLeaseRules>[1] & Omit<Parameters<typeof composeLeases>[1], 'judge'>;

export async function composeFloating(sequelize: Database, needs: Needs) {
  const rules = composeLeaseRules(sequelize, needs);
  const leases = await composeLeases(sequelize, { ...needs, judge: rules.judge });
  const ruleRoutes = rules.routes(leases);
  return {
    ...leases,
    publicRoutes: [...leases.publicRoutes, ...ruleRoutes.publicRoutes],
    adminRoutes: [...leases.adminRoutes, ...ruleRoutes.adminRoutes],
  };
}
