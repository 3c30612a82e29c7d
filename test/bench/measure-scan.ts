// One license scan while clients are being served: how long it takes, and what they notice of it.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeNoticesDue } from '../../scripts/seed/due-notices.ts';
import { type DriverConnection, withPromises } from '../../scripts/seed/sqlite-connection.ts';
import { connect } from '#server/database/connect.ts';
import { postAllAlong } from './keep-alive-client.ts';

interface ScanLine {
  job: string;
  time: string;
  /** Without them, nothing was due. */
  ms?: number;
  emitted?: number;
}

interface Surroundings {
  api: string;
  database: string;
  /** Where the server's stderr goes. */
  errorFile: string;
  bodies: readonly object[];
}

export interface ScanMeasurement {
  scanMs: number;
  emitted: number;
  p99Ms: number;
  /** Replies that were under way while the scan ran. */
  replies: number;
}

const CALLERS = 8;
const WAIT_MS = 60_000;

function scans(errorFile: string): ScanLine[] {
  return readFileSync(errorFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"job":"license-scan"') && line.includes('"job done"'))
    .map((line) => JSON.parse(line) as ScanLine);
}

async function untilScan(
  errorFile: string,
  isIt: (scan: ScanLine) => boolean,
  before = 0,
): Promise<ScanLine> {
  const started = performance.now();
  while (performance.now() - started < WAIT_MS) {
    const scan = scans(errorFile).find((line, index) => index >= before && isIt(line));
    if (scan) return scan;
    await sleep(100);
  }
  throw new Error(
    `no such license scan within ${WAIT_MS / 1000} s; the server's messages are in ${errorFile}`,
  );
}

/** Beside the running server, as another process of the same service would: one short transaction. */
async function makeDue(file: string, count: number): Promise<void> {
  const database = await connect({ url: null, file });
  const manager = database.connectionManager as unknown as {
    getConnection(options: { uuid: string }): Promise<DriverConnection>;
  };
  const connection = withPromises(await manager.getConnection({ uuid: 'bench' }));
  await connection.exec('BEGIN IMMEDIATE');
  await makeNoticesDue(connection, count, Date.now());
  await connection.exec('COMMIT');
  await database.close();
}

/** The server must scan seldom enough for its first scan to be over before those that are measured. */
export async function measureScans(
  rounds: number,
  count: number,
  around: Surroundings,
): Promise<ScanMeasurement[]> {
  await untilScan(around.errorFile, () => true);
  const measured: ScanMeasurement[] = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await measureScan(count, around));
  return measured;
}

async function measureScan(count: number, around: Surroundings): Promise<ScanMeasurement> {
  const { api, database, errorFile, bodies } = around;
  const before = scans(errorFile).length;
  await makeDue(database, count);
  let next = 0;
  let isOver = false;
  const calling = postAllAlong(
    CALLERS,
    `${api}authorize/token/`,
    () => bodies[(next += 1) % bodies.length] as object,
    () => isOver,
  );
  const isIt = (line: ScanLine) => (line.emitted ?? 0) >= count;
  const { ms = 0, emitted = 0, time } = await untilScan(errorFile, isIt, before);
  isOver = true;
  const replies = await calling;
  const endedAt = Date.parse(time) - performance.timeOrigin;
  const during = replies.filter(({ sentAt, endedAt: at }) => at > endedAt - ms && sentAt < endedAt);
  const latencies = during.map((reply) => reply.endedAt - reply.sentAt).toSorted((a, b) => a - b);
  const p99Ms = latencies[Math.ceil(latencies.length * 0.99) - 1] ?? Number.NaN;
  return { scanMs: ms, emitted, p99Ms, replies: during.length };
}
