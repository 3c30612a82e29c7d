// One server on SQLite and one, two and three on PostgreSQL, in turn, because the speed of a machine drifts.
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasPostgres, type PostgresCluster, startPostgres } from '../helpers/postgres-cluster.ts';
import { ADMIN_API_ROOT } from '#server/contract.ts';
import { backOfficeOf } from '../helpers/back-office-of.ts';
import { BENCH_DATA } from './bench-data.ts';
import type { ChildServer } from './child-server.ts';
import { postAllAlong } from './keep-alive-client.ts';
import { load } from './load.ts';
import { ROUNDS, warmUpSeconds } from './rounds.ts';
import { measureRound, newDevice } from './measure-writes.ts';
import { treeCpuMs } from './process-tree.ts';
import { begin, note, type Run, serve } from './run.ts';

const SERVERS = 3;
/** To each server: with fewer, calls share fewer statements, and each costs more. */
const CONNECTIONS = 32;
/** Common, rare and absent ones; letters with accents, part of a key, two letters. */
const SEARCHES = ['gmbh', 'nováček', 'robotics 12', 'nobody at all', 'zz', '7Q2'];
const REPLIES = {
  'license list': ['/licenses/?limit=100'],
  'license list by expiry': ['/licenses/?limit=100&sort=expires'],
  [`searches, ${SEARCHES.length} texts`]: SEARCHES.map(
    (text) => `/licenses/?limit=100&search=${encodeURIComponent(text)}`,
  ),
  overview: ['/overview/'],
  statistics: ['/stats/'],
};

interface LoadRound {
  perSecond: number;
  /** Processor time of all servers and the database per call, in microseconds. */
  cpuMicros: number;
  /** That of the database alone; none on SQLite, which is part of the server. */
  databaseMicros: number;
}

/** Every measurement of one set of servers, in its order. */
export interface Side {
  tokens: LoadRound[];
  activations: LoadRound[];
  /** Milliseconds by the name of what was asked. */
  replies: Record<string, number[]>;
}

export interface ClusterMeasures {
  moveSeconds: number;
  sqlite: Side;
  /** By the number of servers, from one. */
  postgres: Side[];
}

interface Place {
  servers: readonly ChildServer[];
  /** The data directory of the first one. */
  dataDir: string;
  side: Side;
  databaseMs(): number;
}

/** Load on each server at the same time. */
async function loadTokens({ servers, databaseMs }: Place, bodies: string, seconds: number) {
  const before = databaseMs();
  const targets = servers.map((server) => ({ server, url: `${server.api}authorize/token/`, bodies }));
  const results = await Promise.all(targets.map((target) => load(target, seconds)));
  const perSecond = results.reduce((sum, result) => sum + result.perSecond, 0);
  const calls = results.reduce((sum, result) => sum + result.requests, 0);
  const serverMicros = results.reduce((sum, result) => sum + result.cpuMicros * result.requests, 0) / calls;
  const databaseMicros = ((databaseMs() - before) * 1000) / calls;
  return { perSecond, cpuMicros: serverMicros + databaseMicros, databaseMicros };
}

async function loadActivations({ servers, databaseMs }: Place, keys: readonly string[], seconds: number) {
  const before = databaseMs();
  let next = 0;
  let calls = 0;
  const body = () => newDevice(keys[(next += 1) % keys.length] as string);
  const server = { cpuMs: () => servers.reduce((sum, one) => sum + one.cpuMs(), 0) };
  const round = await measureRound({ server, seconds }, async (isOver) => {
    const replies = await Promise.all(
      servers.map(({ api }) => postAllAlong(CONNECTIONS, `${api}activate/`, body, isOver)),
    );
    calls = replies.flat().length;
    return replies.flat();
  });
  const databaseMicros = ((databaseMs() - before) * 1000) / calls;
  return { perSecond: round.perSecond, cpuMicros: round.cpuMicros + databaseMicros, databaseMicros };
}

async function timeReplies({ dataDir, side }: Place): Promise<void> {
  const { adminOrigin, credentials } = backOfficeOf(dataDir);
  for (const [name, paths] of Object.entries(REPLIES)) {
    const started = performance.now();
    for (const path of paths) {
      const response = await fetch(adminOrigin + ADMIN_API_ROOT + path, { headers: credentials });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    }
    (side.replies[name] ??= []).push(performance.now() - started);
  }
}

/** Moves a copy of the data to PostgreSQL. @returns the data directories of servers, and how long the move took */
async function moveToPostgres(run: Run, postgres: PostgresCluster) {
  const folders = Array.from({ length: SERVERS }, (_, index) => join(BENCH_DATA, `server-${index + 1}`));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  const [first = ''] = folders;
  mkdirSync(first, { mode: 0o700 });
  for (const name of ['license-desk.db', 'master.key'])
    copyFileSync(join(run.data.dataDir, name), join(first, name));
  const words = ['move-database', '--to', await postgres.newDatabase(), '--json', '--data-dir', first];
  const { stdout } = await promisify(execFile)(process.execPath, [run.cli, ...words]);
  const { moved } = JSON.parse(stdout) as { moved: { seconds: number; before: string } };
  rmSync(moved.before, { recursive: true });
  for (const folder of folders.slice(1)) {
    cpSync(first, folder, { recursive: true });
    chmodSync(folder, 0o700);
  }
  return { folders, moveSeconds: moved.seconds };
}

const emptySide = (): Side => ({ tokens: [], activations: [], replies: {} });

async function measureAll(run: Run, postgres: PostgresCluster): Promise<ClusterMeasures> {
  const { data } = run;
  // Its first start makes the master key.
  await (await begin(run, 'sqlite.log')).stop();
  note('moving a copy to PostgreSQL');
  const { folders, moveSeconds } = await moveToPostgres(run, postgres);
  const sqlite = await serve(run, 'sqlite.log');
  const servers: ChildServer[] = [];
  for (const dataDir of folders)
    servers.push(await serve({ cli: run.cli, data: { dataDir } }, 'cluster.log'));
  const databaseMs = () => treeCpuMs(postgres.pid());
  const places: Place[] = [
    { servers: [sqlite], dataDir: data.dataDir, side: emptySide(), databaseMs: () => 0 },
    ...servers.map((_, index) => ({
      servers: servers.slice(0, index + 1),
      dataDir: folders[0] ?? '',
      side: emptySide(),
      databaseMs,
    })),
  ];
  const [onSqlite, onOne, , onAll] = places as [Place, Place, Place, Place];
  note('authorizations and activations');
  for (const place of [onSqlite, onAll]) {
    await loadTokens(place, data.tokens, warmUpSeconds(run.seconds));
    await loadActivations(place, data.enterpriseKeys, 1);
  }
  const seconds = Math.max(1, Math.round((run.seconds * 2) / ROUNDS));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const place of places) {
      place.side.tokens.push(await loadTokens(place, data.tokens, seconds));
      place.side.activations.push(await loadActivations(place, data.enterpriseKeys, seconds));
    }
  }
  note('lists and statistics');
  for (let round = 0; round < ROUNDS; round += 1)
    for (const place of [onSqlite, onOne]) await timeReplies(place);
  for (const server of [sqlite, ...servers]) await server.stop();
  const [first, ...others] = places.map(({ side }) => side);
  return { moveSeconds, sqlite: first as Side, postgres: others };
}

export async function measureCluster(run: Run): Promise<ClusterMeasures> {
  if (!hasPostgres) throw new Error('this part needs PostgreSQL (Debian package postgresql)');
  const postgres = await startPostgres({ isDurable: true });
  try {
    return await measureAll(run, postgres);
  } finally {
    await postgres.stop();
  }
}
