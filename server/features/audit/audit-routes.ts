import { implement, type Route } from '#server/platform/route.ts';
import { auditAdminContract } from './audit-contract.ts';
import type { AuditService } from './audit-service.ts';

export function auditRoutes(audit: AuditService): Route[] {
  return implement(auditAdminContract, {
    listAudit: (request) => audit.list(request),
    showAuditEntry: ({ id }) => audit.show(id),
    listAuditActions: async () => ({ actions: await audit.listActions() }),
    exportAudit: (request) => audit.export(request),
  });
}
