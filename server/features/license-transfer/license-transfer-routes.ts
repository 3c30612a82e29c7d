import { implement, type Route } from '#server/platform/route.ts';
import type { LicenseExport } from './license-export.ts';
import type { LicenseImportService } from './license-import-service.ts';
import { licenseTransferAdminContract } from './license-transfer-contract.ts';

export function licenseTransferAdminRoutes(
  exportLicenses: LicenseExport,
  imports: LicenseImportService,
): Route[] {
  return implement(licenseTransferAdminContract, {
    exportLicenses: (request) => exportLicenses(request),
    uploadImport: ({ file }) => imports.upload(file),
    previewImport: (request) => imports.preview(request),
    runImport: (request, call) => imports.run(request, call),
    downloadImportResult: (request) => imports.download(request),
    showImport: ({ import_id: id }) => imports.show(id),
    cancelImport: ({ import_id: id }) => imports.cancel(id),
  });
}
