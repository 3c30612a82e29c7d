// Licenses are found by their order numbers: their searched text contains them.
import { QueryTypes, type Sequelize } from 'sequelize';
import { foldForSearch } from '#server/wire/search-text.ts';

/** Few enough for the parameters of one statement. */
const BATCH = 500;

interface Row {
  id: number | string;
  orderNumber: string;
}

/** Runs inside the transaction that `migrate()` opened. */
export async function addOrderNumbersToSearch(sequelize: Sequelize): Promise<void> {
  let last: number | string = 0;
  for (;;) {
    const rows: Row[] = await sequelize.query<Row>(
      `SELECT id AS "id", order_number AS "orderNumber" FROM licenses
        WHERE order_number IS NOT NULL AND id > $1 ORDER BY id LIMIT ${BATCH}`,
      { bind: [last], type: QueryTypes.SELECT },
    );
    const end = rows.at(-1);
    if (!end) return;
    last = end.id;
    const values = rows.map((_, index) => `(CAST($${2 * index + 1} AS BIGINT), $${2 * index + 2})`);
    await sequelize.query(
      `UPDATE licenses SET search_text = licenses.search_text || v.column2
        FROM (VALUES ${values.join(', ')}) AS v WHERE licenses.id = v.column1`,
      { bind: rows.flatMap(({ id, orderNumber }) => [id, `\n${foldForSearch(orderNumber)}`]) },
    );
  }
}
