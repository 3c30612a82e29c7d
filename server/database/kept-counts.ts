// SQL for numbers of rows that the database keeps: counting a million of them takes longer than everything else on a screen.

export interface KeptCounts {
  /** Selected after FROM: licenses of each kind, with the columns `product`, `plan_id` and `count`. @param ofProduct whether only those of `$product` */
  kinds(ofProduct: boolean): string;
  /** All rows of a table, as an expression. */
  rows(table: 'activations' | 'authorization_tokens' | 'licenses'): string;
}

/** Kept by the triggers of migration 0025. A table without a condition is counted by whole pages of an index. */
export const SQLITE_COUNTS: KeptCounts = {
  kinds: (ofProduct) =>
    `(SELECT product, plan_id, count FROM license_kinds WHERE count > 0 ${ofProduct ? 'AND product = $product' : ''})`,
  rows: (table) => `(SELECT count(*) FROM ${table})`,
};

/** Kept by the triggers of migration 0026, in several rows for each number. */
export const POSTGRES_COUNTS: KeptCounts = {
  kinds: (ofProduct) => `(
    SELECT product, plan_id, CAST(sum(count) AS BIGINT) AS count FROM kept_counts
    WHERE table_name = 'licenses' ${ofProduct ? 'AND product = $product' : ''}
    GROUP BY product, plan_id HAVING sum(count) > 0 ORDER BY product COLLATE "C", plan_id)`,
  rows: (table) =>
    `(SELECT CAST(coalesce(sum(count), 0) AS BIGINT) FROM kept_counts WHERE table_name = '${table}')`,
};
