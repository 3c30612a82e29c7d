// What keeps confirmed changes through a power failure. Only macOS acts on `fullfsync`, but SQLite keeps it everywhere.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { openSqliteFile } from '#server/database/sqlite-file.ts';
import { sqlOf } from '#server/database/sql.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { newDataDir } from '../helpers/test-server.ts';

it('flushes the cache of the disk on macOS, with every connection that writes or checkpoints', async () => {
  const file = join(await newDataDir(), 'things.db');
  const sequelize = await connect({ url: null, file }, { create: true });
  const sql = sqlOf(sequelize);
  const inForce = () => sql.selectFirst('PRAGMA fullfsync');
  try {
    expect(await inForce()).toEqual({ fullfsync: 1 });
    expect(await createTransactions(sequelize)(inForce)).toEqual({ fullfsync: 1 });
  } finally {
    await sequelize.close();
  }
  const database = await openSqliteFile(file);
  try {
    expect(await database.all('PRAGMA fullfsync')).toEqual([{ fullfsync: 1 }]);
  } finally {
    await database.close();
  }
});
