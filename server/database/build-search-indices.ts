// Builds search indices that a PostgreSQL database lacks, without holding up changes.
import type { Sequelize } from 'sequelize';
import { onLongConnections } from './move/long-transaction.ts';
import { selectRows } from './move/postgres-tables.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { createSearchIndex, hasIndex, SEARCH_INDICES, type SearchIndex } from './search-indices.ts';

/** An arbitrary number that nothing else locks: one server builds for all. */
const LOCK = 8_787_003;
const TRY_LOCK = `SELECT pg_try_advisory_lock(${LOCK}) AS "isMine"`;
const MISSING = `SELECT name FROM (VALUES ${SEARCH_INDICES.map((name) => `('${name}', ${hasIndex(name)})`).join(', ')}) known (name, is_usable)
  WHERE NOT is_usable`;
const HAS_TRIGRAMS = `SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'`;

interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

async function hasTrigrams(connection: PostgresConnection): Promise<boolean> {
  // Refused to most users; an administrator can create it.
  await connection.query('CREATE EXTENSION IF NOT EXISTS pg_trgm').catch(() => {});
  return (await selectRows(connection, HAS_TRIGRAMS)).length > 0;
}

async function build(connection: PostgresConnection, name: SearchIndex): Promise<void> {
  // An attempt that was interrupted leaves an index that cannot be used.
  await connection.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
  await connection.query(createSearchIndex(name, 'CONCURRENTLY'));
}

async function buildMissing(connection: PostgresConnection, log: Log): Promise<void> {
  const [lock] = await selectRows<{ isMine: boolean }>(connection, TRY_LOCK);
  if (!lock?.isMine) return;
  const missing = (await selectRows<{ name: SearchIndex }>(connection, MISSING)).map(({ name }) => name);
  const needTrigrams = missing.filter((name) => name !== 'licenses_pieces');
  const lacksTrigrams = needTrigrams.length > 0 && !(await hasTrigrams(connection));
  if (lacksTrigrams)
    log.warn(
      { indices: needTrigrams },
      'searches are slow, because the database has no extension pg_trgm; run, as its administrator: CREATE EXTENSION pg_trgm',
    );
  const possible = missing.filter((name) => !lacksTrigrams || name === 'licenses_pieces');
  for (const name of possible) {
    log.info({ index: name }, 'building an index for searches');
    await build(connection, name);
    log.info({ index: name }, 'built the index');
  }
  if (possible.length > 0) await connection.query('ANALYZE licenses, activations');
}

export interface IndexBuild {
  /** Interrupts it. The next start begins again. */
  end(): Promise<void>;
}

/** Builds what is missing in the background. Until then, searches find the same, but read all licenses. */
export function buildSearchIndices(sequelize: Sequelize, log: Log): IndexBuild {
  let connection: PostgresConnection | null = null;
  let hasEnded = false;
  const run = async () => {
    try {
      await onLongConnections(sequelize, 1, async ([opened]) => {
        connection = opened;
        if (!hasEnded) await buildMissing(opened, log);
      });
    } catch (err) {
      if (!hasEnded) log.warn({ err }, 'searches are slow, because an index could not be built');
    }
  };
  const done = sequelize.getDialect() === 'postgres' ? run() : Promise.resolve();
  return {
    async end() {
      hasEnded = true;
      await connection?.end().catch(() => {});
      await done;
    },
  };
}
