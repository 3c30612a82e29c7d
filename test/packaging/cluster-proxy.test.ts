// nginx with the shipped configuration before servers on one PostgreSQL database: callers do not notice that one is down.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PUBLIC_API_ROOT } from '#server/contract.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newPostgresDatabase } from '../helpers/postgres-database.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { newReceiverFolder } from '../webhooks/foreign-receiver.ts';
import { configurationOf, freePorts, hasNginx, runNginx } from '../webhooks/nginx.ts';

const SITE = resolve(import.meta.dirname, '../../packaging/cluster/nginx.conf');
const masterKey = Buffer.alloc(32, 6).toString('base64');
const CALLS = 60;

const portOf = (server: TestServer) => new URL(server.api).port;

/** The shipped file with other addresses, and without TLS. */
async function startProxy(upstreams: readonly string[], port: number): Promise<void> {
  const folder = newReceiverFolder();
  mkdirSync(join(folder, 'logs'));
  const site = readFileSync(SITE, 'utf8')
    .replaceAll(/server-(\d):8787/gu, (_, number: string) => `127.0.0.1:${upstreams[Number(number) - 1]}`)
    .replaceAll(/^\s*ssl_certificate.*\n/gmu, '')
    .replace('443 ssl', `127.0.0.1:${port}`);
  writeFileSync(join(folder, 'nginx.conf'), configurationOf(folder, [site]));
  await runNginx(folder, port);
}

describe.skipIf(!hasPostgres || !hasNginx())('three servers behind nginx', () => {
  it('answer every call with one of them down from the start, and with another one stopped', async () => {
    const flags = { 'database-url': await newPostgresDatabase(), 'trust-proxy': 'on' };
    const [one, two] = [
      await startTestServer({ flags, masterKey }),
      await startTestServer({ flags, masterKey }),
    ];
    onTestFinished(() => one.stop());
    const [port = 0, nobody = 0] = await freePorts(2);
    await startProxy([portOf(one), portOf(two), String(nobody)], port);
    const { license } = await one.admin.createLicense({ holder: 'Behind nginx' });
    const { token } = await one.admin.issueToken({ license: license.license_key });

    const authorize = async () => {
      const reply = await fetch(`http://127.0.0.1:${port}${PUBLIC_API_ROOT}/authorize/token/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      });
      return reply.status;
    };
    const statuses = async () => new Set(await Promise.all(Array.from({ length: CALLS }, authorize)));
    expect(await statuses()).toEqual(new Set([200]));
    await two.stop();
    expect(await statuses()).toEqual(new Set([200]));
    // The back office is not reachable.
    expect((await fetch(`http://127.0.0.1:${port}/admin/api/overview/`)).status).toBe(404);
  });
});
