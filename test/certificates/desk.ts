// The service on a new data directory, without listeners or jobs, so that the test decides when anything happens.
import pino from 'pino';
import { onTestFinished } from 'vitest';
import { createAdminAddresses } from '#server/features/admin-session/admin-addresses.ts';
import { compose } from '#server/wiring/compose.ts';
import { adminContract } from '#server/contract.ts';
import { createStorageGuard } from '#server/database/storage-guard.ts';
import { type Client, createClient } from '#server/wire/client.ts';
import type { Clock } from '#server/platform/clock.ts';
import { createDroppedLines } from '#server/platform/dropped-lines.ts';
import { createLeadership } from '#server/platform/leadership.ts';
import { loadConfig } from '#server/platform/config.ts';
import { invoke } from '#server/platform/route.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { prepareNewDirectory } from '../helpers/migrated-database.ts';

export interface Desk {
  dataDir: string;
  admin: Client<typeof adminContract>;
  /** Calls of a client that has disconnected. */
  gone: Client<typeof adminContract>;
  close(): Promise<void>;
}

/** Closed at the end of the test, if not before. @param dataDir a new one unless given */
export async function openDesk(clock: Clock, dataDir?: string): Promise<Desk> {
  const directory = dataDir ?? (await keptDataDir());
  await prepareNewDirectory(directory);
  const nothing = () => {};
  const service = await compose({
    config: loadConfig({ flags: { 'data-dir': directory, 'base-url': 'https://desk.example' }, env: {} }),
    clock,
    sharedTime: null,
    leadership: createLeadership(true),
    logger: pino({ level: 'silent' }),
    security: { record: nothing, refused: nothing, close: nothing },
    droppedLines: createDroppedLines(),
    runtimeSecret: 'secret',
    jobsAreFine: () => true,
    isDraining: () => false,
    isClockTrusted: () => true,
    steadyClock: clock,
    guard: createStorageGuard(),
    newInstallation: false,
    onDeliveriesQueued: nothing,
    backupJob: null,
    runCertificateUpkeep: null,
    adminAddresses: createAdminAddresses({ adminUrl: null, port: () => 0 }),
    apiBaseUrl: () => 'https://desk.example/license/api/svc',
    ownPorts: () => [],
    restart: null,
  });
  const routes = new Map(service.adminRoutes.map((route) => [route.name, route]));
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= service.close());
  onTestFinished(close);
  const clientThat = (isGone: boolean) =>
    createClient(adminContract, async (name, _row, input) =>
      invoke(routes.get(name)!, input, {
        actor: { kind: 'cli', name: 'tester', role: 'admin' },
        requestId: 'test',
        isGone: () => isGone,
        setReplyHeader: nothing,
        prefers: ([first]) => first,
      }),
    );
  return { dataDir: directory, admin: clientThat(false), gone: clientThat(true), close };
}
