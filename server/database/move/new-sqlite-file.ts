import { connect } from '../connect.ts';
import { migrate } from '../migrate.ts';
import { createTransactions } from '../transaction.ts';

/** Creates a SQLite file with the tables of this version. @param file must not exist */
export async function createSqliteFile(file: string): Promise<void> {
  const sequelize = await connect({ url: null, file }, { create: true });
  try {
    await migrate(sequelize, createTransactions(sequelize));
  } finally {
    await sequelize.close();
  }
}
