// Column types for models. Each use needs a new object, because Sequelize modifies the object it receives. Times and
// counts are BIGINT, read as JavaScript numbers.
import { DataTypes } from 'sequelize';

export const idColumn = () => ({ type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true });
export const integerColumn = () => ({ type: DataTypes.BIGINT, allowNull: false });
export const textColumn = () => ({ type: DataTypes.TEXT, allowNull: false });

/** The same column, but nullable. */
export function nullable<Column extends object>(column: Column): Column & { allowNull: true } {
  return { ...column, allowNull: true };
}
