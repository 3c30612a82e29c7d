// Keeps a restore that is to check a backup in another data directory from replacing the database that the environment or
// the command line names for all commands, and any restore from going where no server looks for it.
import { connect } from '#server/database/connect.ts';
import { isEmptyDatabase } from '#server/database/migrate.ts';
import { aboutDatabase, UnusableDatabaseError } from '#server/database/unusable-database.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { hasCopyToDiscard, hasIncoming } from '#server/installation/database-move.ts';
import { databaseName, isMarked, missingSetting } from '#server/installation/installation.ts';
import { type Config, ConfigError } from '#server/platform/config.ts';
import { precedingSettings } from './move-steps.ts';

/**
 * Only a start may discard the copy of a move to SQLite that waits for a setting to be removed.
 * @throws UnusableDatabaseError
 */
export function refuseToDiscardCopy(config: Config): void {
  const { dataDir } = config;
  const settings = precedingSettings(config).join(' and ');
  if (settings === '' || !hasCopyToDiscard(dataDir, databaseLocation(config))) return;
  throw new UnusableDatabaseError(
    `the data of ${dataDir} was moved to SQLite, but ${settings} still names PostgreSQL; remove ${settings}, then start the server, ` +
      `which completes the move; to return to PostgreSQL instead, start the server with ${settings}, which discards the copy`,
  );
}

/** The next start would put the file of the move in place of the restored one. @throws UnusableDatabaseError */
export function refuseUnfinishedMove(config: Config): void {
  const { dataDir } = config;
  refuseToDiscardCopy(config);
  if (!hasIncoming(dataDir, databaseLocation(config))) return;
  throw new UnusableDatabaseError(
    `the data of ${dataDir} was moved to SQLite; start the server once, which completes the move, then stop it and restore`,
  );
}

/**
 * @throws ConfigError if the database has content, and only its name connects it with the data directory;
 *   UnusableDatabaseError if the installation there has another database
 */
export async function refuseForeignDatabase(config: Config): Promise<void> {
  const { dataDir } = config;
  const location = databaseLocation(config);
  const problem = missingSetting(
    dataDir,
    location,
    'add --replace-database if it is lost, to restore into SQLite instead',
  );
  if (problem) throw problem;
  const settings = precedingSettings(config).join(' and ');
  if (location.url === null || settings === '' || isMarked(dataDir, location)) return;
  try {
    const sequelize = await connect(location);
    try {
      if (await isEmptyDatabase(sequelize)) return;
    } finally {
      await sequelize.close();
    }
  } catch (error) {
    throw aboutDatabase(error, location);
  }
  throw new ConfigError(
    `${settings} names the database ${databaseName(location)}, which has data, and no server has used it with ${dataDir}; ` +
      `to restore into ${dataDir} only, run the command without ${settings}, or add --replace-database to replace the database`,
  );
}
