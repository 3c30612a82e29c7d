// What can happen to a site: to one server, to the database, or to the network between them.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '#server/database/connect.ts';
import type { Cluster, ClusterServer } from '../../helpers/cluster.ts';
import type { Random } from '../random.ts';
import { sendOnce } from './calls.ts';
import type { FaultRecord } from './timeline.ts';
import { until } from './until.ts';

const SKEW_MINUTES = 5;
const DAY_MINUTES = 24 * 60;

export interface FaultContext {
  cluster: Cluster;
  random: Random;
  failures: string[];
  /** Stops that were cut off because they took too long. */
  forcedExits: string[];
  /** Another version than the one that a server runs now. */
  otherProgram(server: ClusterServer): readonly string[] | undefined;
}

export interface Fault {
  name: string;
  isOutage?: boolean;
  mayRepeatDeliveries?: boolean;
  /** @param repair call it when the cause ends, unless that is at once @returns what was broken */
  run(context: FaultContext, repair: () => void): Promise<string>;
}

async function readinessOf({ api }: ClusterServer): Promise<{ status: number; clock: string }> {
  const reply = await sendOnce(`${api}/health/ready/`, null).catch(() => null);
  return { status: reply?.status ?? 0, clock: String(reply?.body?.checks?.clock) };
}

const untilReady = (server: ClusterServer) =>
  until(`server ${server.number} is ready`, async () => (await readinessOf(server)).status === 200);

const nameOf = ({ number }: ClusterServer) => `server ${number}`;

/** Stops a server as an administrator does. */
async function stop(server: ClusterServer, { failures, forcedExits }: FaultContext): Promise<void> {
  const { code } = await server.process().kill();
  if (code === 0) return;
  const lines = readFileSync(server.logFile, 'utf8').trimEnd().split('\n');
  const [last = ''] = lines.slice(-1);
  const what = `${nameOf(server)} ended with exit code ${code} after SIGTERM: ${last}`;
  // A machine that is too slow for a stop within 5 s. The contract allows it.
  const isForced = code === 1 && last.includes('forced exit');
  (isForced ? forcedExits : failures).push(what);
}

async function endConnections({ databaseUrl }: Cluster, condition: string): Promise<void> {
  const database = await connect({ url: databaseUrl, file: '' });
  try {
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
    );
  } finally {
    await database.close();
  }
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill',
    mayRepeatDeliveries: true,
    async run({ cluster, random }, repair) {
      const server = random.pick(cluster.servers);
      await server.process().kill('SIGKILL');
      await sleep(random.integer(3000));
      repair();
      await server.start();
      return nameOf(server);
    },
  },
  {
    name: 'stop',
    async run(context, repair) {
      const { cluster, random } = context;
      const server = random.pick(cluster.servers);
      await stop(server, context);
      await sleep(random.integer(3000));
      repair();
      await server.start();
      return nameOf(server);
    },
  },
  {
    name: 'freeze',
    mayRepeatDeliveries: true,
    async run({ cluster, random }, repair) {
      const server = random.pick(cluster.servers);
      const { pid } = server.process();
      process.kill(pid, 'SIGSTOP');
      await sleep(3000 + random.integer(5000)).finally(() => process.kill(pid, 'SIGCONT'));
      repair();
      return nameOf(server);
    },
  },
  {
    name: 'terminate connections of one server',
    mayRepeatDeliveries: true,
    async run({ cluster, random }) {
      const server = random.pick(cluster.servers);
      const ports = server.relay.targetPorts();
      if (ports.length > 0) await endConnections(cluster, `client_port IN (${ports.join(', ')})`);
      return nameOf(server);
    },
  },
  {
    name: 'terminate all connections',
    mayRepeatDeliveries: true,
    async run({ cluster }) {
      await endConnections(cluster, 'TRUE');
      return 'all servers';
    },
  },
  {
    name: 'restart PostgreSQL immediately',
    isOutage: true,
    mayRepeatDeliveries: true,
    async run({ cluster }) {
      await cluster.postgres.crash();
      return 'PostgreSQL';
    },
  },
  {
    name: 'stop PostgreSQL',
    isOutage: true,
    mayRepeatDeliveries: true,
    async run({ cluster, random }, repair) {
      await cluster.postgres.restart(2000 + random.integer(3000));
      repair();
      return 'PostgreSQL';
    },
  },
  {
    name: 'freeze PostgreSQL',
    isOutage: true,
    mayRepeatDeliveries: true,
    async run({ cluster, random }, repair) {
      cluster.postgres.freeze();
      await sleep(3000 + random.integer(3000)).finally(() => cluster.postgres.thaw());
      repair();
      return 'PostgreSQL';
    },
  },
  {
    name: 'clock off by 5 minutes',
    async run({ cluster, random }, repair) {
      const server = cluster.servers.at(-1)!;
      const minutes = random.chance(0.5) ? SKEW_MINUTES : -SKEW_MINUTES;
      cluster.clock.set(minutes / DAY_MINUTES);
      try {
        await until(`${nameOf(server)} notices its clock`, async () => {
          const { status, clock } = await readinessOf(server);
          return status === 503 && clock === 'failing';
        });
        await sleep(random.integer(3000));
      } finally {
        cluster.clock.set(0);
      }
      repair();
      return nameOf(server);
    },
  },
  {
    name: 'network pause',
    mayRepeatDeliveries: true,
    async run({ cluster, random }, repair) {
      const server = random.pick(cluster.servers);
      server.relay.pause();
      await sleep(3000 + random.integer(5000)).finally(() => server.relay.resume());
      repair();
      return nameOf(server);
    },
  },
  {
    name: 'rolling upgrade',
    async run(context) {
      for (const server of context.cluster.servers) {
        await stop(server, context);
        await server.start(context.otherProgram(server));
        await untilReady(server);
      }
      return 'all servers, one after the other';
    },
  },
];

/** Runs a fault, and waits until all servers are ready again. */
export async function runFault(fault: Fault, context: FaultContext): Promise<FaultRecord> {
  const { name, isOutage = false, mayRepeatDeliveries = false } = fault;
  const beganAt = performance.now();
  let repairedAt = beganAt;
  const target = await fault.run(context, () => {
    repairedAt = performance.now();
  });
  for (const server of context.cluster.servers) await untilReady(server);
  const recoveredAt = performance.now();
  return { name, target, isOutage, mayRepeatDeliveries, beganAt, repairedAt, recoveredAt };
}
