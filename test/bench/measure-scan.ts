// One license scan while clients are being served: how long it takes, and what they notice of it.
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
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

interface Setup {
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

interface Scans {
  done: readonly ScanLine[];
  /** @param from how many of the first are left out */
  until(isIt: (scan: ScanLine) => boolean, from?: number): Promise<ScanLine>;
  end(): void;
}

/**
 * Follows the log in other processes: it gets a line for each call, and reading them here would delay the calls that are
 * measured.
 */
function followScans(errorFile: string): Scans {
  const done: ScanLine[] = [];
  const seen = new EventEmitter();
  const tail = spawn('tail', ['-n', '+1', '-F', errorFile], { stdio: ['ignore', 'pipe', 'ignore'] });
  const grep = spawn('grep', ['--line-buffered', '"job":"license-scan".*"job done"'], {
    stdio: [tail.stdout, 'pipe', 'ignore'],
  });
  createInterface({ input: grep.stdout as Readable }).on('line', (line) => {
    done.push(JSON.parse(line) as ScanLine);
    seen.emit('scan');
  });
  return {
    done,
    async until(isIt, from = 0) {
      const signal = AbortSignal.timeout(WAIT_MS);
      for (;;) {
        const scan = done.slice(from).find((line) => isIt(line));
        if (scan) return scan;
        await once(seen, 'scan', { signal });
      }
    },
    end() {
      tail.kill();
      grep.kill();
    },
  };
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
export async function measureScans(rounds: number, count: number, setup: Setup): Promise<ScanMeasurement[]> {
  const scans = followScans(setup.errorFile);
  try {
    await scans.until(() => true);
    const measured: ScanMeasurement[] = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measureScan(count, setup, scans));
    return measured;
  } finally {
    scans.end();
  }
}

async function measureScan(
  count: number,
  { api, database, bodies }: Setup,
  scans: Scans,
): Promise<ScanMeasurement> {
  const before = scans.done.length;
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
  const { ms = 0, emitted = 0, time } = await scans.until(isIt, before);
  isOver = true;
  const replies = await calling;
  const endedAt = Date.parse(time) - performance.timeOrigin;
  const during = replies.filter(({ sentAt, endedAt: at }) => at > endedAt - ms && sentAt < endedAt);
  const latencies = during.map((reply) => reply.endedAt - reply.sentAt).toSorted((a, b) => a - b);
  const p99Ms = latencies[Math.ceil(latencies.length * 0.99) - 1] ?? Number.NaN;
  return { scanMs: ms, emitted, p99Ms, replies: during.length };
}
