// SQL for the number of licenses of each product and plan, as rows with the columns `product`, `plan_id` and `count`.

/** Selected after FROM. @param ofProduct whether only licenses of `$product` count */
export type LicenseKinds = (ofProduct: boolean) => string;

/** Kept by the triggers of migration 0025: counting a million licenses takes longer than everything else on a screen. */
export const SQLITE_KINDS: LicenseKinds = (ofProduct) =>
  `(SELECT product, plan_id, count FROM license_kinds WHERE count > 0 ${ofProduct ? 'AND product = $product' : ''})`;

/** Steps from one kind to the next in index order, and counts each: half the time of grouping a million rows. */
const EACH_KIND = `(
  WITH RECURSIVE each_kind (id, product, plan_id) AS (
    SELECT * FROM (SELECT id, product, plan_id FROM licenses ORDER BY product, plan_id LIMIT 1) first_kind
    UNION ALL
    SELECT n.id, n.product, n.plan_id FROM each_kind e JOIN licenses n ON n.id = coalesce(
      (SELECT l.id FROM licenses l WHERE l.product = e.product AND l.plan_id > e.plan_id
       ORDER BY l.plan_id LIMIT 1),
      (SELECT l.id FROM licenses l WHERE l.product > e.product ORDER BY l.product, l.plan_id LIMIT 1))
  )
  SELECT e.product, e.plan_id,
    (SELECT count(*) FROM licenses l WHERE l.product = e.product AND l.plan_id = e.plan_id) AS count
  FROM each_kind e)`;

const KINDS_OF_PRODUCT = `(
  SELECT l.product, l.plan_id, count(*) AS count FROM licenses l WHERE l.product = $product
  GROUP BY l.product, l.plan_id)`;

/** Counted: a kept number would make changes of different licenses wait for each other. */
export const POSTGRES_KINDS: LicenseKinds = (ofProduct) => (ofProduct ? KINDS_OF_PRODUCT : EACH_KIND);
