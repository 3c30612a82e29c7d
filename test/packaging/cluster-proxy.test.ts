// nginx with the shipped configuration before servers on one PostgreSQL database: callers do not notice that one is down.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PUBLIC_API_ROOT } from '#server/contract.ts';
import { startClusterProxy } from '../helpers/cluster-proxy.ts';
import { freePort, freePorts } from '../helpers/free-ports.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { hasNginx } from '../webhooks/nginx.ts';

const masterKey = Buffer.alloc(32, 6).toString('base64');
const CALLS = 60;
/** For so many calls at once on a busy machine. */
const PATIENT = { perServer: 60, perCall: 180 };
const AVAILABLE = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const UNAVAILABLE = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n';

const portOf = (server: TestServer) => new URL(server.api).port;

async function authorize(port: number, token: string): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${port}${PUBLIC_API_ROOT}/authorize/token/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  return reply.status;
}

/** A stand-in for a server. @param onRequest what it does with a request */
async function startStandIn(onRequest: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('data', () => onRequest(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

describe.skipIf(!hasPostgres || !hasNginx())('three servers behind nginx', () => {
  it('answer every call with one of them down from the start, and with another one stopped', async () => {
    const flags = { 'database-url': await newMigratedPostgresDatabase(), 'trust-proxy': 'on' };
    const [one, two] = [
      await startTestServer({ flags, masterKey }),
      await startTestServer({ flags, masterKey }),
    ];
    onTestFinished(() => one.stop());
    const [port = 0, closedPort = 0] = await freePorts(2);
    onTestFinished(await startClusterProxy([portOf(one), portOf(two), closedPort], port, PATIENT));
    const { license } = await one.admin.createLicense({ holder: 'Behind nginx' });
    const { token } = await one.admin.issueToken({ license: license.license_key });

    const statuses = async () =>
      new Set(await Promise.all(Array.from({ length: CALLS }, () => authorize(port, token))));
    expect(await statuses()).toEqual(new Set([200]));
    await two.stop();
    expect(await statuses()).toEqual(new Set([200]));
    // The back office is not reachable.
    expect((await fetch(`http://127.0.0.1:${port}/admin/api/overview/`)).status).toBe(404);
  });

  describe('of which two are broken', () => {
    const server = {} as TestServer;
    let token: string;
    beforeAll(async () => {
      const flags = { 'database-url': await newMigratedPostgresDatabase(), 'trust-proxy': 'on' };
      Object.assign(server, await startTestServer({ flags, masterKey }));
      const { license } = await server.admin.createLicense({ holder: 'Behind nginx' });
      ({ token } = await server.admin.issueToken({ license: license.license_key }));
    });
    afterAll(() => server.stop());

    async function statusesWith(
      others: number[],
      limits: Partial<typeof PATIENT> = PATIENT,
    ): Promise<Set<number>> {
      const port = await freePort();
      onTestFinished(await startClusterProxy([portOf(server), ...others], port, limits));
      return new Set(await Promise.all(Array.from({ length: CALLS }, () => authorize(port, token))));
    }

    it('answer a check on the third if the others die or freeze in the middle', async () => {
      const dying = await startStandIn((socket) => socket.destroy());
      const frozen = await startStandIn(() => {});
      expect(await statusesWith([dying, frozen], { perCall: PATIENT.perCall })).toEqual(new Set([200]));
    });

    it('answer a check on the third if the others cannot reach the database', async () => {
      const unavailable = await startStandIn((socket) => socket.write(UNAVAILABLE));
      expect(await statusesWith([unavailable, unavailable])).toEqual(new Set([200]));
    });

    it('answer as soon as one of them can, if none could before', async () => {
      let isAvailable = false;
      const reply = () => (isAvailable ? AVAILABLE : UNAVAILABLE);
      const [one, two, three] = await Promise.all(
        [1, 2, 3].map(() => startStandIn((socket) => socket.write(reply()))),
      );
      const port = await freePort();
      onTestFinished(await startClusterProxy([one!, two!, three!], port, PATIENT));
      const statuses = async () =>
        new Set(await Promise.all(Array.from({ length: CALLS }, () => authorize(port, token))));
      expect(await statuses()).toEqual(new Set([503]));
      isAvailable = true;
      expect(await statuses()).toEqual(new Set([200]));
    });
  });
});
