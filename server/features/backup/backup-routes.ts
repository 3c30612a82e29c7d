import { implement, type Route } from '#server/platform/route.ts';
import { backupAdminContract } from './backup-contract.ts';
import type { BackupService } from './backup-service.ts';

export function backupAdminRoutes(backups: BackupService): Route[] {
  return implement(backupAdminContract, {
    downloadBackup: ({ passphrase }, call) => backups.download(passphrase ?? null, call),
  });
}
