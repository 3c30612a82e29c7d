// The whole contract: every row of both listeners, merged from the features.
import {
  activationAdminContract,
  activationContract,
} from '#server/features/activations/activation-contract.ts';
import { airGapContract } from '#server/features/activations/air-gap-contract.ts';
import { adminSessionContract } from '#server/features/admin-session/admin-session-contract.ts';
import { alertAdminContract } from '#server/features/alerts/alert-contract.ts';
import { apiTokenAdminContract } from '#server/features/api-tokens/api-token-contract.ts';
import { auditAdminContract } from '#server/features/audit/audit-contract.ts';
import {
  authorizationAdminContract,
  authorizationContract,
  authorizationTokenAdminContract,
} from '#server/features/authorization-tokens/authorization-token-contract.ts';
import { backupAdminContract } from '#server/features/backup/backup-contract.ts';
import { restoreAdminContract } from '#server/features/backup/restore-contract.ts';
import { backupStatusAdminContract } from '#server/features/backup/backup-status-contract.ts';
import {
  certificateAdminContract,
  certificateContract,
} from '#server/features/certificates/certificate-contract.ts';
import { databaseMoveAdminContract } from '#server/features/database-move/database-move-contract.ts';
import { deniedCallAdminContract } from '#server/features/denied-calls/denied-call-contract.ts';
import { overviewContract } from '#server/features/overview/overview-contract.ts';
import { firstRunAdminContract } from '#server/features/first-run/first-run-contract.ts';
import { healthContract } from '#server/features/health/health-contract.ts';
import { licenseApiContract } from '#server/features/license-api/license-api-contract.ts';
import { licenseAdminContract, licenseContract } from '#server/features/licenses/license-contract.ts';
import { leaseExplainContract } from '#server/features/leases/lease-explain-contract.ts';
import { leaseAdminContract } from '#server/features/leases/lease-admin-contract.ts';
import { leaseContract } from '#server/features/leases/lease-contract.ts';
import { leaseGroupContract } from '#server/features/lease-rules/lease-group-contract.ts';
import { leaseRuleContract } from '#server/features/lease-rules/lease-rule-contract.ts';
import { optionsImportContract } from '#server/features/lease-rules/options-import-contract.ts';
import { licenseTransferAdminContract } from '#server/features/license-transfer/license-transfer-contract.ts';
import { planContract } from '#server/features/plans/plan-contract.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';
import { retentionAdminContract } from '#server/features/retention/retention-contract.ts';
import { serverAdminContract } from '#server/features/servers/server-contract.ts';
import { settingsAdminContract } from '#server/features/settings/settings-contract.ts';
import { signingAdminContract, signingContract } from '#server/features/signing/signing-contract.ts';
import { statisticsContract } from '#server/features/statistics/statistics-contract.ts';
import { webhookAdminContract, webhookContract } from '#server/features/webhooks/webhook-contract.ts';

export const PUBLIC_API_ROOT = '/license/api/svc';
export const ADMIN_API_ROOT = '/admin/api';

/** Endpoints that both listeners serve. */
const sharedContract = {
  ...planContract,
  ...statisticsContract,
  ...webhookContract,
  ...certificateContract,
  ...leaseAdminContract,
  ...leaseRuleContract,
  ...leaseGroupContract,
  ...optionsImportContract,
};

/** Endpoints of the API listener, below `/license/api/svc/`. The busiest come first, because routes match in order. */
export const publicContract = {
  ...authorizationContract,
  ...leaseContract,
  ...activationContract,
  ...healthContract,
  ...signingContract,
  ...licenseContract,
  ...licenseApiContract,
  ...sharedContract,
};

/** The same endpoint on the admin listener, where any signed-in administrator may call it. */
function forAdmin<Rows extends Record<string, Endpoint>>(rows: Rows): Rows {
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, { ...row, auth: 'admin' }]),
  ) as unknown as Rows;
}

/** Endpoints of the admin listener, below `/admin/api/`. */
export const adminContract = {
  ...licenseAdminContract,
  ...licenseTransferAdminContract,
  ...activationAdminContract,
  ...airGapContract,
  ...authorizationAdminContract,
  ...deniedCallAdminContract,
  ...leaseExplainContract,
  ...authorizationTokenAdminContract,
  ...apiTokenAdminContract,
  ...signingAdminContract,
  ...auditAdminContract,
  ...adminSessionContract,
  ...overviewContract,
  ...alertAdminContract,
  ...webhookAdminContract,
  ...certificateAdminContract,
  ...settingsAdminContract,
  ...serverAdminContract,
  ...databaseMoveAdminContract,
  ...retentionAdminContract,
  ...backupAdminContract,
  ...backupStatusAdminContract,
  ...restoreAdminContract,
  ...firstRunAdminContract,
  ...forAdmin({ ...healthContract, ...signingContract, ...sharedContract }),
};
