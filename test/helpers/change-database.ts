// Writes into a data directory's database past the service, to make what the service itself never would.
import { join } from 'node:path';
import { connect } from '../../server/database/connect.ts';

/** @param sql one statement */
export async function changeDatabase(dataDir: string, sql: string): Promise<void> {
  const database = await connect({ url: null, file: join(dataDir, 'license-desk.db') });
  try {
    await database.query(sql);
  } finally {
    await database.close();
  }
}
