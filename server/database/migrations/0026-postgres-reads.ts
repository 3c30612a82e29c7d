// On PostgreSQL: kept numbers of rows, and an index of single characters and pairs of them for searches.
import { QueryTypes, type Sequelize } from 'sequelize';
import type { Dialect } from '../connect.ts';
import { createSearchIndex } from '../search-indices.ts';

/**
 * How many rows a table has, licenses for each product and plan. The number is the sum of several rows: a transaction
 * adds to one that no other transaction has locked, or to a new one, so that none waits for another.
 */
const TABLE = `
  CREATE TABLE kept_counts (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    table_name TEXT NOT NULL,
    product TEXT NOT NULL,
    plan_id BIGINT NOT NULL,
    count BIGINT NOT NULL
  ) WITH (fillfactor = 50)`;

/** Functions may be left of an earlier move, whose tables were removed. */
const ADD = `
  CREATE OR REPLACE FUNCTION add_to_kept_count(counted TEXT, of_product TEXT, of_plan BIGINT, change BIGINT) RETURNS void
  LANGUAGE plpgsql AS $$ BEGIN
    UPDATE kept_counts SET count = count + change WHERE id = (
      SELECT id FROM kept_counts WHERE table_name = counted AND product = of_product AND plan_id = of_plan
      LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
      INSERT INTO kept_counts (table_name, product, plan_id, count) VALUES (counted, of_product, of_plan, change);
    END IF;
  END $$`;

/** Triggers also run where no schema is searched, as in a restore with `pg_restore`. */
const PINNED = 'SET search_path FROM CURRENT';

const FORGET = `
  CREATE OR REPLACE FUNCTION forget_kept_count() RETURNS trigger LANGUAGE plpgsql ${PINNED} AS $$ BEGIN
    DELETE FROM kept_counts WHERE table_name = TG_TABLE_NAME;
    RETURN NULL;
  END $$`;

const BY = `CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END`;

const COUNT_ROWS = `
  CREATE OR REPLACE FUNCTION keep_row_count() RETURNS trigger LANGUAGE plpgsql ${PINNED} AS $$ DECLARE
    rows BIGINT := (SELECT count(*) FROM changed);
  BEGIN
    IF rows > 0 THEN PERFORM add_to_kept_count(TG_TABLE_NAME, '', 0, ${BY} * rows); END IF;
    RETURN NULL;
  END $$`;

const COUNT_LICENSES = `
  CREATE OR REPLACE FUNCTION keep_license_count() RETURNS trigger LANGUAGE plpgsql ${PINNED} AS $$ BEGIN
    PERFORM add_to_kept_count(TG_TABLE_NAME, c.product, c.plan_id, ${BY} * c.count)
    FROM (SELECT product, plan_id, count(*) AS count FROM changed GROUP BY product, plan_id) c;
    RETURN NULL;
  END $$`;

const MOVE_LICENSE = `
  CREATE OR REPLACE FUNCTION move_license_count() RETURNS trigger LANGUAGE plpgsql ${PINNED} AS $$ BEGIN
    PERFORM add_to_kept_count(TG_TABLE_NAME, OLD.product, OLD.plan_id, -1);
    PERFORM add_to_kept_count(TG_TABLE_NAME, NEW.product, NEW.plan_id, 1);
    RETURN NULL;
  END $$`;

/** For each statement: a copy of a whole table counts its rows once. */
const triggers = (table: string, count: string): string[] => [
  `CREATE TRIGGER ${table}_added AFTER INSERT ON ${table} REFERENCING NEW TABLE AS changed
   FOR EACH STATEMENT EXECUTE FUNCTION ${count}()`,
  `CREATE TRIGGER ${table}_removed AFTER DELETE ON ${table} REFERENCING OLD TABLE AS changed
   FOR EACH STATEMENT EXECUTE FUNCTION ${count}()`,
  `CREATE TRIGGER ${table}_emptied AFTER TRUNCATE ON ${table}
   FOR EACH STATEMENT EXECUTE FUNCTION forget_kept_count()`,
];

const countNow = (table: string): string =>
  `INSERT INTO kept_counts (table_name, product, plan_id, count) SELECT '${table}', '', 0, count(*) FROM ${table}`;

const COUNTS = [
  TABLE,
  'CREATE INDEX kept_counts_of ON kept_counts (table_name, product, plan_id)',
  ADD,
  FORGET,
  COUNT_ROWS,
  COUNT_LICENSES,
  MOVE_LICENSE,
  ...triggers('licenses', 'keep_license_count'),
  `CREATE TRIGGER licenses_moved AFTER UPDATE OF product, plan_id ON licenses FOR EACH ROW
   WHEN (OLD.product <> NEW.product OR OLD.plan_id <> NEW.plan_id) EXECUTE FUNCTION move_license_count()`,
  ...triggers('activations', 'keep_row_count'),
  ...triggers('authorization_tokens', 'keep_row_count'),
  `INSERT INTO kept_counts (table_name, product, plan_id, count)
   SELECT 'licenses', product, plan_id, count(*) FROM licenses GROUP BY product, plan_id`,
  countNow('activations'),
  countNow('authorization_tokens'),
];

/**
 * Every character of a text, and every two that follow each other. `chr(1)` separates the pairs: those that start at
 * odd places, then those at even ones. Where a text contains it, only pairs with it are missing.
 */
const PIECES = String.raw`
  CREATE OR REPLACE FUNCTION search_pieces(TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT string_to_array($1, NULL) || string_to_array(
      regexp_replace($1, '(..)', '\1' || chr(1), 'g') || chr(1)
      || regexp_replace(substr($1, 2), '(..)', '\1' || chr(1), 'g'), chr(1)) $$`;

/** Building the index locks a table with more for so long that changes would fail; the server builds it later. */
const FEW = 20_000;
const SOME = `SELECT count(*) AS count FROM (SELECT 1 FROM licenses LIMIT ${FEW}) bounded`;

/** Runs inside the transaction that `migrate()` opened. SQLite has what corresponds to this. */
export async function createPostgresReads(sequelize: Sequelize, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') return;
  for (const statement of [...COUNTS, PIECES]) await sequelize.query(statement);
  const [counted] = await sequelize.query<{ count: number }>(SOME, { type: QueryTypes.SELECT });
  if ((counted?.count ?? 0) < FEW) await sequelize.query(createSearchIndex('licenses_pieces'));
}
