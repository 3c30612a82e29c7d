// A site as `docs/guide/postgresql.md` describes it: PostgreSQL, several servers, and nginx in front of them. Every part can
// be broken: each server reaches the database through a relay, and the last one has a clock that can be set.
import { join } from 'node:path';
import { PUBLIC_API_ROOT } from '#server/contract.ts';
import { hasNginx } from '../webhooks/nginx.ts';
import { startClusterProxy } from './cluster-proxy.ts';
import { hasFaketime, type MovableClock, movableClock } from './faketime.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from './postgres-cluster.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from './server-process.ts';
import { freePorts } from './free-ports.ts';
import { startTcpRelay, type TcpRelay } from './tcp-relay.ts';

/** As many as the shipped configuration of nginx names. */
const SERVERS = 3;
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

export interface ClusterServer {
  /** From 1. */
  number: number;
  /** `http://127.0.0.1:PORT/license/api/svc`, also while it does not run. */
  api: string;
  /** What all of its processes have logged. */
  logFile: string;
  /** Between this server and the database. */
  relay: TcpRelay;
  /** The latest process. */
  process(): ServerProcess;
  /** Starts it again, after its process has ended. @param program instead of this build */
  start(program?: readonly string[]): Promise<void>;
}

export interface Cluster {
  postgres: PostgresCluster;
  /** Past the relays. */
  databaseUrl: string;
  /** Through nginx: `http://127.0.0.1:PORT/license/api/svc` */
  api: string;
  servers: readonly ClusterServer[];
  /** Moves the clock of the last server. */
  clock: MovableClock;
  /** Ends everything. */
  stop(): Promise<void>;
}

/** What has to be installed for it and is not. */
export function missingForCluster(): string[] {
  const needed = { postgresql: hasPostgres, nginx: hasNginx(), faketime: hasFaketime() };
  return Object.entries(needed).flatMap(([name, isThere]) => (isThere ? [] : [name]));
}

interface ServerOptions {
  number: number;
  port: number;
  databaseUrl: URL;
  prefix: readonly string[];
  flags: Readonly<Record<string, string>>;
}

async function startClusterServer(options: ServerOptions): Promise<ClusterServer> {
  const { number, port, databaseUrl, prefix, flags } = options;
  const relay = await startTcpRelay(Number(databaseUrl.port));
  const url = new URL(databaseUrl);
  url.port = String(relay.port);
  const dataDir = temporaryDirectory(`server-${number}`);
  const logFile = join(dataDir, '..', 'server.log');
  let running: ServerProcess;
  async function start(program?: readonly string[]): Promise<void> {
    running = await startServerProcess({
      dataDir,
      prefix,
      flags: { port: String(port), 'rate-limit': '0', 'trust-proxy': 'on', ...flags },
      env: { LICENSE_DESK_MASTER_KEY: MASTER_KEY, LICENSE_DESK_DATABASE_URL: url.href },
      stderrFile: logFile,
      ...(program ? { program } : {}),
    });
  }
  await start();
  return {
    number,
    api: `http://127.0.0.1:${port}${PUBLIC_API_ROOT}`,
    logFile,
    relay,
    process: () => running,
    start,
  };
}

/** @param flags settings of all servers, by flag name */
export async function startCluster(flags: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const postgres = await startPostgres();
  const databaseUrl = await postgres.newDatabase();
  const clock = movableClock();
  const [proxyPort = 0, ...ports] = await freePorts(SERVERS + 1);
  const servers: ClusterServer[] = [];
  // The first one migrates the empty database.
  for (const [index, port] of ports.entries()) {
    const prefix = index === SERVERS - 1 ? clock.prefix : [];
    servers.push(
      await startClusterServer({
        number: index + 1,
        port,
        databaseUrl: new URL(databaseUrl),
        prefix,
        flags,
      }),
    );
  }
  const endProxy = await startClusterProxy(ports, proxyPort);
  return {
    postgres,
    databaseUrl,
    api: `http://127.0.0.1:${proxyPort}${PUBLIC_API_ROOT}`,
    servers,
    clock,
    async stop() {
      await endProxy();
      for (const { relay } of servers) relay.resume();
      await Promise.all(servers.map((server) => server.process().kill()));
      for (const { relay } of servers) await relay.close();
      postgres.thaw();
      await postgres.stop();
    },
  };
}
