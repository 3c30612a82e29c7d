import { QueryTypes, type Sequelize } from 'sequelize';

const INSERT_SQL = `
  INSERT INTO service_marks (name, set_at) VALUES ('storage_probe', $1) ON CONFLICT (name) DO NOTHING`;
const DELETE_SQL = `DELETE FROM service_marks WHERE name = 'storage_probe'`;

export function createStorageProbeStore(sequelize: Sequelize) {
  return {
    /** Changes pages that have to be written at the commit, but leaves no row. Runs in a transaction. @param now epoch milliseconds */
    async write(now: number): Promise<void> {
      await sequelize.query(INSERT_SQL, { bind: [now], type: QueryTypes.RAW });
      await sequelize.query(DELETE_SQL, { type: QueryTypes.RAW });
    },
  };
}
