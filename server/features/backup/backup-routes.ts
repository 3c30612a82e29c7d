import { implement, type Route } from '#server/platform/route.ts';
import { backupAdminContract } from './backup-contract.ts';
import type { BackupService } from './backup-service.ts';
import { backupStatusAdminContract } from './backup-status-contract.ts';
import type { BackupStatusService } from './backup-status-service.ts';
import { restoreAdminContract } from './restore-contract.ts';
import type { RestoreAdminService } from './restore-admin-service.ts';

export function backupAdminRoutes(
  backups: BackupService,
  status: BackupStatusService,
  restores: RestoreAdminService,
): Route[] {
  return [
    ...implement(backupAdminContract, {
      downloadBackup: ({ passphrase }, call) => backups.download(passphrase ?? null, call),
    }),
    ...implement(backupStatusAdminContract, {
      showBackups: () => status.show(),
      runBackup: (_request, call) => status.run(call),
    }),
    ...implement(restoreAdminContract, {
      showRestore: () => restores.show(),
      uploadBackup: ({ file }) => restores.upload(file),
      previewRestore: (request, call) => restores.preview(request, call),
      confirmRestore: (request, call) => restores.confirm(request, call),
      cancelRestore: (request, call) => restores.cancel(request, call),
    }),
  ];
}
