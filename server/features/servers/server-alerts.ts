// Raises alerts about the servers that use the same database.
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { Logger } from '#server/platform/logger.ts';
import { fullName, stateOf } from './server-state.ts';
import type { ServerRow } from './server-store.ts';

interface Needs {
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  logger: Logger;
}

export interface ServerAlerts {
  /** @param canJudge false while this server itself has not reported for long enough: the others could not either */
  check(rows: readonly ServerRow[], canJudge: boolean): void;
}

export function createServerAlerts({ alerts, logger }: Needs): ServerAlerts {
  let lost = new Map<string, ServerRow>();

  function checkLost(rows: readonly ServerRow[]): void {
    const found = new Map(rows.filter((row) => stateOf(row) === 'lost').map((row) => [row.id, row]));
    for (const [id, { name, address, version }] of found) {
      if (lost.has(id)) continue;
      logger.warn({ server: name, address, version }, 'a server has stopped reporting without leaving');
      alerts.raise('server_lost', { subject: fullName({ name, address }) });
    }
    for (const [id, row] of lost) if (!found.has(id)) alerts.clear('server_lost', fullName(row));
    lost = found;
  }

  function checkVersions(rows: readonly ServerRow[]): void {
    const present = rows.filter((row) => stateOf(row) !== 'lost');
    const versions = [...new Set(present.map(({ version }) => version))].toSorted();
    if (versions.length > 1) alerts.raise('versions_differ', { params: { versions: versions.join(', ') } });
    else alerts.clear('versions_differ');
  }

  return {
    check(rows, canJudge) {
      if (canJudge) checkLost(rows);
      checkVersions(rows);
    },
  };
}
