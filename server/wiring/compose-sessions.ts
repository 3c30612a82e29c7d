// Wires the sessions of the back office.
import { hostname } from 'node:os';
import { createAdminSessionService } from '#server/features/admin-session/admin-session-service.ts';
import { createOwnSessions } from '#server/features/admin-session/own-sessions.ts';
import { createSharedSessionStore } from '#server/features/admin-session/shared-session-store.ts';
import type { Database } from '#server/database/connect.ts';
import { isShared } from '#server/database/sql-dialect.ts';
import { createSessionFile } from '#server/features/admin-session/session-file.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';
import { recordSecurityEvent } from '#server/features/audit/security-events.ts';

interface Needs {
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  dataDir: string;
  /** The CLI's credential, as written to the runtime file. */
  runtimeSecret: string;
  onEnded(sessionId: string): void;
  logger: Logger;
  security: Parameters<typeof recordSecurityEvent>[0];
}

export function composeSessions(sequelize: Database, { dataDir, logger, security, ...needs }: Needs) {
  const file = createSessionFile(dataDir, (error) => {
    logger.warn({ err: error as Error }, 'back office sessions will not outlast this process');
  });
  return createAdminSessionService({
    ...needs,
    serverName: hostname(),
    store: isShared(sequelize)
      ? createSharedSessionStore(sequelize, needs)
      : createOwnSessions(file, needs.clock),
    onAuditFailed(error, entry) {
      logger.error({ err: error as Error }, 'cannot write the audit entry of a session');
      recordSecurityEvent(security, entry);
    },
  });
}
