// Checks the integrity of the database.
import { QueryTypes, type Sequelize } from 'sequelize';
import { dialectOf } from './connect.ts';

/**
 * @returns a description of what was checked
 * @throws Error that names the first damage found
 */
export async function checkIntegrity(sequelize: Sequelize): Promise<string> {
  if (dialectOf(sequelize) === 'postgres') {
    await sequelize.authenticate();
    return 'PostgreSQL answers';
  }
  const select = (sql: string) => sequelize.query<Record<string, unknown>>(sql, { type: QueryTypes.SELECT });
  const [answer] = await select('PRAGMA integrity_check(1)');
  if (answer?.['integrity_check'] !== 'ok')
    throw new Error(`damaged: ${String(answer?.['integrity_check'])}`);
  const orphans = await select('PRAGMA foreign_key_check');
  if (orphans.length > 0) throw new Error(`${orphans.length} rows refer to missing rows`);
  return 'all pages and references are intact';
}
