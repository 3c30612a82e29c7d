// Starts the run's PostgreSQL cluster when a test file asks for the first database, and stops it at the end of the run.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type PostgresCluster, startPostgres } from './postgres-cluster.ts';
import './exit-on-signal.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Replies with the address of a new database, which is migrated if the path says so. */
    postgres: string;
  }
}

export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let cluster: Promise<PostgresCluster> | undefined;
  const newDatabase = async (isMigrated: boolean) => {
    const { newDatabase: empty, newMigratedDatabase: migrated } = await (cluster ??= startPostgres());
    return isMigrated ? migrated() : empty();
  };
  const server = createServer(({ url }, response) => {
    newDatabase(url === '/migrated').then(
      (address) => response.end(address),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  provide('postgres', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    await (await cluster?.catch(() => undefined))?.stop();
  };
}
