// One run of the bench: its data, its servers, and how long it measures.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchData } from './bench-data.ts';
import { type ChildServer, startChildServer } from './child-server.ts';
import type { Figure } from './figures.ts';
import type { Receiver } from './measure-webhooks.ts';

/** Jobs leave a new server alone for a while; what is measured is one that has been up for longer. */
const JOBS_BEGUN_MS = 6000;
/** The check of a large database takes seconds more: over, when the server has hardly worked for this long. */
const CALM_MS = 2000;
const CALM_CPU_MS = 60;

export interface InUse {
  data: BenchData;
  server: ChildServer;
  /** The server may send it webhooks. */
  receiver: Receiver;
  /** Where the server's stderr goes. */
  errorFile: string;
}

/** One server for each number of licenses, which several parts measure. */
export interface Servers {
  /** What the server of so many licenses has. */
  data(licenses: number): Promise<BenchData>;
  /** @returns once it is ready and what it does after a start is done */
  use(licenses: number): Promise<InUse>;
  /** Stops all; the next use starts another one. */
  stop(): Promise<void>;
}

/** A server that has worked and is then left alone. */
export interface IdleServer {
  server: ChildServer;
  /** It is idle from then on. */
  leave(): void;
  /** Stops it. @param minutes how many to wait for, at least; all that have passed count */
  finish(minutes: number): Promise<Figure>;
}

export interface Run {
  /** The command line program that starts the server. */
  cli: string;
  licenses: number;
  data: BenchData;
  /** The minimal Express server. */
  bare: ChildServer;
  servers: Servers;
  /** In a complete run, on another copy of the same data. */
  idle: IdleServer | null;
  isShort: boolean;
  /** Of each measurement. */
  seconds: number;
}

const begunAt = performance.now();

/** Says what begins, and how many minutes and seconds after the start. */
export function note(message: string): void {
  const seconds = Math.floor((performance.now() - begunAt) / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  process.stderr.write(`${time.padStart(5)} ${message} …\n`);
}

type Served = Pick<Run, 'cli'> & { data: Pick<BenchData, 'dataDir'> };

export const logFile = ({ data }: Served, log: string) => join(data.dataDir, log);

/** @returns once it is ready */
export function begin(run: Served, log: string, ...args: string[]): Promise<ChildServer> {
  const shared = ['--data-dir', run.data.dataDir, '--port', '0', '--admin-port', '0', '--rate-limit', '0'];
  return startChildServer([run.cli, 'serve', ...shared, ...args], logFile(run, log));
}

/** @returns once what it does after a start is done */
export async function serve(run: Served, log: string, ...args: string[]): Promise<ChildServer> {
  const server = await begin(run, log, ...args);
  await sleep(JOBS_BEGUN_MS);
  for (let worked = Infinity; worked > CALM_CPU_MS;) {
    const before = server.cpuMs();
    await sleep(CALM_MS);
    worked = server.cpuMs() - before;
  }
  return server;
}

/** @returns signatures a second, on one core @param algorithm as `openssl speed` names it */
export function opensslSignsPerSecond(algorithm: 'rsa3072' | 'ecdsap256'): number {
  const report = execFileSync('openssl', ['speed', '-mr', '-seconds', '1', algorithm], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // OpenSSL 3: `+F2:3:3072:SIGNATURES:CHECKS` for RSA, `+F4:…` for ECDSA.
  return Number(/^\+F[24]:\d+:\d+:([\d.]+):/mu.exec(report)?.[1]);
}
