// Moves a large database to PostgreSQL, killed twice on the way, and back, and reports what each move takes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededData } from '../bench/seeded-data.ts';
import { CLI_PROGRAM } from '../helpers/cli.ts';
import { hasPostgres, startPostgres } from '../helpers/postgres-cluster.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { checkRow } from './fault-checks.ts';
import { type Lane, runLane } from './lane.ts';

/** The goal on a machine of four cores that does nothing else. */
const SECONDS_PER_MILLION = 60;
/** On two cores with other work. */
const TOLERANCE = 4;
/** Shares of the time that the first move to the end takes. */
const KILLS = [0.1, 0.5];

interface Table {
  name: string;
  rows: number;
  sha256: string;
}

interface Moved {
  rows: number;
  seconds: number;
  tables: Table[];
}

const commandFor = (dataDir: string, to: string) =>
  spawn(process.execPath, [CLI_PROGRAM, 'move-database', '--to', to, '--json', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

async function move(dataDir: string, to: string): Promise<Moved> {
  const command = commandFor(dataDir, to);
  const [output] = await Promise.all([text(command.stdout), once(command, 'exit')]);
  const document = JSON.parse(output) as { moved?: Moved };
  if (!document.moved) throw new Error(output);
  return document.moved;
}

async function killedMove(dataDir: string, to: string, afterMs: number): Promise<void> {
  const command = commandFor(dataDir, to);
  const ended = once(command, 'exit');
  await sleep(afterMs);
  command.kill('SIGKILL');
  await ended;
}

/** The move itself adds an entry to the audit log. */
const compared = ({ tables }: Moved) => JSON.stringify(tables.filter(({ name }) => name !== 'audit_entries'));

async function run(lane: Lane): Promise<void> {
  const check = `${lane.count} licenses`;
  const checked = 'row counts and digests are the same there and back; a killed move starts over';
  if (!hasPostgres) {
    lane.report({
      check,
      rounds: 0,
      checked,
      failures: [],
      figures: '',
      skipped: 'PostgreSQL is not installed',
    });
    return;
  }
  const { database } = await seededData(lane.count);
  const postgres = await startPostgres();
  try {
    await checkRow(lane, check, checked, async ({ expect }) => {
      const dataDir = temporaryDirectory();
      copyFileSync(database, join(dataDir, 'license-desk.db'));
      const first = await move(dataDir, await postgres.newDatabase());
      lane.note(`${first.rows} rows to PostgreSQL in ${first.seconds.toFixed(1)} s`);
      const back = await move(dataDir, 'sqlite');
      lane.note(`${back.rows} rows to SQLite in ${back.seconds.toFixed(1)} s`);
      expect(compared(back) === compared(first), 'the tables differ after the way back');
      const target = await postgres.newDatabase();
      for (const share of KILLS) await killedMove(dataDir, target, first.seconds * share * 1000);
      const again = await move(dataDir, target);
      expect(compared(again) === compared(first), 'the tables differ after a move that was killed');
      const limit = (lane.count / 1_000_000) * SECONDS_PER_MILLION * TOLERANCE + 10;
      expect(first.seconds <= limit, `the move took ${first.seconds} s, more than ${limit} s`);
      return `${first.rows} rows: ${first.seconds.toFixed(1)} s there, ${back.seconds.toFixed(1)} s back`;
    });
  } finally {
    await postgres.stop();
  }
}

await runLane('move-database', { count: 1_000_000, minutes: 30 }, run);
