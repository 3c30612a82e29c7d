// Builds search indices that a PostgreSQL database lacks, without holding up changes.
import { setTimeout as delay } from 'node:timers/promises';
import type { Sequelize } from 'sequelize';
import { driverCodeOf } from '#server/platform/driver-error.ts';
import { onLongConnections } from './move/long-transaction.ts';
import { selectRows } from './move/postgres-tables.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { createSearchIndex, hasIndex, SEARCH_INDICES, type SearchIndex } from './search-indices.ts';

/** An arbitrary number that nothing else locks: one server builds for all. */
const LOCK = 8_787_003;
const TRY_LOCK = `SELECT pg_try_advisory_lock(${LOCK}) AS "isMine"`;
const MISSING = `SELECT name FROM (VALUES ${SEARCH_INDICES.map((name) => `('${name}', ${hasIndex(name)})`).join(', ')}) known (name, is_usable)
  WHERE NOT is_usable`;
/** What has failed, or what another server is building, is looked at again after this. */
const AGAIN_MS = 60_000;
const INSUFFICIENT_PRIVILEGE = '42501';
const HAS_TRIGRAMS = `SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'`;

interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** Whether it is asked for the first time about this, which is not to be done or logged every minute. */
type IsFirst = (about: 'extension' | 'warning' | 'failure') => boolean;

async function hasTrigrams(connection: PostgresConnection, isFirst: IsFirst): Promise<boolean> {
  // Refused to most users; an administrator can create it.
  if (isFirst('extension')) await connection.query('CREATE EXTENSION IF NOT EXISTS pg_trgm').catch(() => {});
  return (await selectRows(connection, HAS_TRIGRAMS)).length > 0;
}

async function build(connection: PostgresConnection, name: SearchIndex): Promise<void> {
  // An attempt that was interrupted leaves an index that cannot be used.
  await connection.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
  await connection.query(createSearchIndex(name, 'CONCURRENTLY'));
}

/** @returns whether nothing is missing any more */
async function buildMissing(connection: PostgresConnection, log: Log, isFirst: IsFirst): Promise<boolean> {
  const findMissing = async () =>
    (await selectRows<{ name: SearchIndex }>(connection, MISSING)).map(({ name }) => name);
  if ((await findMissing()).length === 0) return true;
  const [lock] = await selectRows<{ isMine: boolean }>(connection, TRY_LOCK);
  if (!lock?.isMine) return false;
  // Another server may just have built them.
  const missing = await findMissing();
  const needTrigrams = missing.filter((name) => name !== 'licenses_pieces');
  const lacksTrigrams = needTrigrams.length > 0 && !(await hasTrigrams(connection, isFirst));
  if (lacksTrigrams && isFirst('warning'))
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
  return !lacksTrigrams;
}

export interface IndexBuild {
  /** Interrupts it, until `resume` is called. */
  pause(): Promise<void>;
  resume(): void;
}

/**
 * Builds what is missing in the background, and tries again until nothing is missing. Until then, searches find the same,
 * but read all licenses.
 */
export function buildSearchIndices(sequelize: Sequelize, log: Log, againMs = AGAIN_MS): IndexBuild {
  let connection: PostgresConnection | null = null;
  let pausing = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const known = new Set<string>();

  const isFirst: IsFirst = (about) => {
    const isNew = !known.has(about);
    known.add(about);
    return isNew;
  };

  /** @returns whether there is nothing left to try */
  async function attempt(signal: AbortSignal): Promise<boolean> {
    let isComplete = false;
    try {
      await onLongConnections(sequelize, 1, async ([opened]) => {
        connection = opened;
        if (!signal.aborted) isComplete = await buildMissing(opened, log, isFirst);
      });
      return isComplete;
    } catch (err) {
      if (!signal.aborted && isFirst('failure'))
        log.warn({ err }, 'searches are slow, because an index could not be built');
      return driverCodeOf(err) === INSUFFICIENT_PRIVILEGE;
    } finally {
      connection = null;
    }
  }

  async function keepTrying({ signal }: AbortController): Promise<void> {
    while (!signal.aborted && !(await attempt(signal))) {
      // Rejects when it is paused.
      await delay(againMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  function resume(): void {
    pausing = new AbortController();
    if (sequelize.getDialect() === 'postgres') running = keepTrying(pausing);
  }

  resume();
  return {
    resume,
    async pause() {
      pausing.abort();
      await connection?.end().catch(() => {});
      await running;
    },
  };
}
