// The column types that models are made of, a new object each time, as Sequelize writes into what it is given.
// Moments and counts are BIGINT, read as JavaScript numbers.
import { DataTypes } from 'sequelize';

export const idColumn = () => ({ type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true });
export const integerColumn = () => ({ type: DataTypes.BIGINT, allowNull: false });
export const textColumn = () => ({ type: DataTypes.TEXT, allowNull: false });

/** The same column, where nothing is a value too. */
export function nullable<Column extends object>(column: Column): Column & { allowNull: true } {
  return { ...column, allowNull: true };
}
