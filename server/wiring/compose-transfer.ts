// Wires the CSV import and export of licenses.
import { join } from 'node:path';
import type { AuditService } from '#server/features/audit/audit-service.ts';
import type { Database } from '#server/database/connect.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { createImportFiles } from '#server/features/license-transfer/import-files.ts';
import { createLicenseExport } from '#server/features/license-transfer/license-export.ts';
import { createLicenseImportService } from '#server/features/license-transfer/license-import-service.ts';
import { createLicenseImportStore } from '#server/features/license-transfer/license-import-store.ts';
import { licenseTransferAdminRoutes } from '#server/features/license-transfer/license-transfer-routes.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { PlanStore } from '#server/features/plans/plan-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { Route } from '#server/platform/route.ts';

interface Needs {
  licenses: LicenseStore;
  plans: Pick<PlanStore, 'findByName' | 'findToUse'>;
  audit: AuditService;
  transaction: RunTransaction;
  clock: Clock;
  defaultProduct: string;
  dataDir: string;
  logger: Logger;
}

interface LicenseTransfer {
  adminRoutes: Route[];
  end(): Promise<void>;
}

export async function composeTransfer(sequelize: Database, needs: Needs): Promise<LicenseTransfer> {
  const { dataDir, logger, plans, ...shared } = needs;
  const files = createImportFiles(join(dataDir, 'imports'));
  await files.removeForgotten();
  const imports = createLicenseImportService({
    ...shared,
    findPlan: plans.findByName,
    findPlanToUse: plans.findToUse,
    imports: createLicenseImportStore(sequelize),
    files,
    onKeysLost: (error) =>
      logger.error({ err: error as Error }, 'cannot store the file of the keys of an import'),
  });
  const exportLicenses = createLicenseExport({
    licenses: needs.licenses,
    clock: needs.clock,
  });
  return { adminRoutes: licenseTransferAdminRoutes(exportLicenses, imports), end: imports.end };
}
