// Tracks whether the storage can be written, and raises alerts for the administrator.
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { AlertCode } from '#server/features/alerts/alert-contract.ts';
import type { DatabaseFault } from '#server/platform/database-fault.ts';
import type { ControlledGuard } from '#server/database/storage-guard.ts';
import type { Logger } from '#server/platform/logger.ts';
import { type DiskSpace, spaceLevel, type SpaceLevel } from './disk-space.ts';
import { createWriteProbe } from './write-probe.ts';

type ProbeNeeds = Parameters<typeof createWriteProbe>[0];

interface Needs extends Pick<ProbeNeeds, 'write' | 'writerState' | 'faultOf'> {
  dataDir: string;
  /** Whether the database is a file in the data directory. */
  isLocal: boolean;
  readSpace(): Promise<DiskSpace>;
  guard: ControlledGuard;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  logger: Logger;
}

type Check = 'ok' | 'failing';

/** The storage checks of the readiness endpoint (contract, section 8). */
export interface StorageChecks {
  database: Check;
  storage: Check;
}

/** Faults of the disk. All others are the database's. */
const DISK_FAULTS: readonly DatabaseFault[] = ['full', 'io', 'read_only'];
const MEGABYTE = 1_000_000;

/** Rounded, so that an alert does not change with every file. */
function freeMegabytes({ free }: DiskSpace): number {
  const megabytes = Math.floor(free / MEGABYTE);
  return megabytes < 50 ? megabytes : megabytes - (megabytes % 10);
}

export function createStorageService(needs: Needs) {
  const { dataDir, isLocal, readSpace, guard, alerts, logger, ...probing } = needs;
  let lostPath: string | null = null;
  let isDamaged = false;
  let writeFault: DatabaseFault | null = null;
  let level: SpaceLevel = 'ok';
  let space: DiskSpace | null = null;

  function show(code: AlertCode, holds: boolean, params: Record<string, string | number> = {}): void {
    if (holds) alerts.raise(code, { params });
    else alerts.clear(code);
  }

  function showAlerts(): void {
    const isFull = level === 'full' || writeFault === 'full';
    const room = { free_mb: space ? freeMegabytes(space) : 0, path: dataDir };
    show('data_directory_lost', lostPath !== null, { path: lostPath ?? '' });
    show('database_damaged', isDamaged);
    show('storage_full', isFull, room);
    show('storage_low', level === 'low' && !isFull, room);
    show('database_not_writable', writeFault !== null && !['full', 'damaged', 'gone'].includes(writeFault));
  }

  function setWriteFault(fault: DatabaseFault | null): void {
    if (fault === writeFault) return;
    if (fault === null) logger.info('the database can be written again');
    else logger.error({ fault }, 'the database cannot be written');
    writeFault = fault;
    showAlerts();
  }

  /** Lasts until a restart: a successful statement does not prove that the damage is repaired. */
  function noteDamage(finding: string | null): void {
    if (isDamaged && finding === null) return;
    logger.error({ finding }, 'the database is damaged: stop the server and restore it from a backup');
    isDamaged = true;
    showAlerts();
  }

  async function lookAtSpace(): Promise<void> {
    const before = level;
    space = await readSpace();
    level = spaceLevel(space, before);
    if (level !== before) {
      const about = { free_bytes: space.free, path: dataDir };
      if (level === 'ok') logger.info(about, 'the disk has enough free space again');
      else logger.warn(about, level === 'full' ? 'the disk is full' : 'the disk is low on space');
    }
    showAlerts();
  }

  const probe = createWriteProbe({
    ...probing,
    stuck: isLocal ? 'busy' : 'unreachable',
    onResult: setWriteFault,
  });

  guard.onFault((fault) => {
    if (fault === 'damaged') noteDamage(null);
    if (!DISK_FAULTS.includes(fault)) return;
    // Only a successful write shows that the fault is over.
    probe.expire();
    setWriteFault(fault);
    void lookAtSpace().catch(() => {});
  });

  function known(): StorageChecks {
    const hasDiskFault = writeFault !== null && DISK_FAULTS.includes(writeFault);
    const isUnusable =
      isDamaged ||
      (isLocal && lostPath !== null) ||
      guard.isOutdated() ||
      (writeFault !== null && !hasDiskFault);
    const isUnwritable = lostPath !== null || level === 'full' || hasDiskFault;
    return { database: isUnusable ? 'failing' : 'ok', storage: isUnwritable ? 'failing' : 'ok' };
  }

  return {
    lookAtSpace,
    /** Known faults only: writing on each request would keep an idle disk awake. */
    known,
    /**
     * Writes. Takes up to two seconds, and no time while the last result is fresh.
     * @param answers false if the database has stopped answering since: no earlier result counts
     */
    async check(answers = true): Promise<StorageChecks> {
      if (!answers) probe.expire();
      // Not awaited: on a hanging file system it may never finish.
      if (level !== 'ok') void lookAtSpace().catch(() => {});
      if (lostPath === null) await probe.check();
      return known();
    },
    /** Whether reads cannot be trusted either. */
    isBroken: () => isDamaged || (isLocal && lostPath !== null),
    noteDamage,
    /** @param path missing or replaced; null if everything is in place */
    noteLost(path: string | null): void {
      if (path === lostPath) return;
      lostPath = path;
      if (path === null) {
        logger.info({ path: dataDir }, 'the data directory is back');
        guard.resumeWrites('gone');
      } else {
        logger.error(
          { path },
          'the data directory was removed or replaced: changes are refused until it is back',
        );
        if (isLocal) guard.stopWrites('gone');
      }
      probe.expire();
      showAlerts();
    },
    /** While writes fail, this checks when they succeed again. */
    async recheck(): Promise<void> {
      if (writeFault !== null && lostPath === null) await probe.check();
    },
  };
}

export type StorageService = ReturnType<typeof createStorageService>;
