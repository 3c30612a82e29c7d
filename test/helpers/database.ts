// A look into a data directory's database, past the service, to see what is really there.
import { join } from 'node:path';
import { QueryTypes } from 'sequelize';
import { connect } from '../../server/database/connect.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- rows are whatever the query selects
export async function selectRows(dataDir: string, sql: string): Promise<any[]> {
  const sequelize = await connect({ url: null, file: join(dataDir, 'license-desk.db') });
  try {
    return await sequelize.query(sql, { type: QueryTypes.SELECT });
  } finally {
    await sequelize.close();
  }
}
