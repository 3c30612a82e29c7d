import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { activateDevice, callAdmin, newBearer, newLicense, unique } from '../helpers/contract-calls.ts';
import { listen, listening, type LiveClient } from '../helpers/live-client.ts';
import { httpCall, jsonCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { signedIn } from '../helpers/sign-in.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';

const server = sharedServer({ flags: { 'scan-seconds': '1' } });
const clients: LiveClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.vanish()));
});

async function page(headers?: Record<string, string>): Promise<LiveClient> {
  const client = await listening(server, headers);
  clients.push(client);
  return client;
}

describe('the stream of changes', () => {
  it('begins with a greeting that names the version', async () => {
    const client = await listen(server);
    clients.push(client);
    expect(client.status).toBe(200);
    expect(client.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^[\w-]{36}$/u) as string,
    });
    const { version } = await server.admin.serverInfo({});
    expect(await client.next()).toMatchObject({ event: 'hello', data: { version } });
  });

  it('reports the topics of a change', async () => {
    const license = await newLicense(server);
    const client = await page();
    await activateDevice(server, license);
    expect(await client.next()).toMatchObject({
      event: 'change',
      data: { topics: ['devices', 'licenses', 'events', 'audit'] },
    });
    await server.admin.createPlan({ name: unique('live') });
    expect(await client.next()).toMatchObject({ data: { topics: ['plans', 'licenses', 'leases', 'audit'] } });
  });

  it('reports license files, which replace those of a distrusted key', async () => {
    const license = await newLicense(server);
    const { machine_fingerprint } = (await activateDevice(server, license)).activation;
    await server.admin.rotateSigningKey({});
    const client = await page();
    // Not a change of the device: only the key of its file is recorded.
    await activateDevice(server, license, { machine_fingerprint });
    await server.admin.createApiToken({ name: 'meanwhile', role: 'admin' });
    expect((await client.next())?.data.topics).toContain('devices');
  });

  it('reports at most once a second, and misses nothing', async () => {
    const client = await page();
    const begin = performance.now();
    await server.admin.createApiToken({ name: 'first', role: 'admin' });
    const first = await client.next();
    expect(first?.data.topics).toEqual(['api_tokens', 'audit']);
    await server.admin.createPlan({ name: unique('live') });
    await server.admin.createApiToken({ name: 'second', role: 'admin' });
    await newLicense(server);
    // One message, unless these calls took longer than a second.
    const topics = new Set<string>();
    let messages = 1;
    for (; topics.size < 6; messages += 1)
      for (const topic of (await client.next())!.data.topics as string[]) topics.add(topic);
    expect([...topics].toSorted()).toEqual(['api_tokens', 'audit', 'events', 'leases', 'licenses', 'plans']);
    expect(messages).toBeLessThanOrEqual(1 + (performance.now() - begin) / 1000);
  });

  it('does not report refused changes', async () => {
    const client = await page();
    expectFailure(await callAdmin(server, 'createPlan', { name: 'trial' }), 'plan_exists');
    await server.admin.createApiToken({ name: 'done', role: 'admin' });
    expect((await client.next())?.data.topics).toEqual(['api_tokens', 'audit']);
  });

  it('reports deliveries that a job has attempted', async () => {
    const { license_id } = await newLicense(server);
    await server.admin.registerWebhook({
      url: `https://127.0.0.1:1/${unique('live')}`,
      scope: 'license.renewed',
    });
    const client = await page();
    await server.admin.renewLicense({ ref: String(license_id), days: 1 });
    // Nothing but an attempt changes how a registration fares.
    await client.changed('webhooks');
  });

  it('reports notices that a job has sent', async () => {
    const client = await page();
    const expires_at = new Date(Date.now() - 86_400_000).toISOString();
    await newLicense(server, { expires_at });
    await client.changed('deliveries');
  });

  it('reports to every page', async () => {
    const pages = await Promise.all([page(), page(await signedIn(server)), page()]);
    await newLicense(server);
    for (const client of pages) await client.changed('licenses');
  });
});

describe('the stream is for administrators:', () => {
  const url = () => `${server.adminOrigin}/admin/api/live/`;
  const bearer = () => ({ authorization: `Bearer ${server.runtimeSecret}` });

  it('other callers are refused', async () => {
    for (const headers of [{}, await newBearer(server), { cookie: 'license_desk_session=x' }])
      expectFailure(await jsonCall(url(), { headers }), 'unauthorized');
  });

  it('no other page and no other host', async () => {
    const cookie = await signedIn(server);
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { host: 'evil.example' },
    ])
      expectFailure(await jsonCall(url(), { headers: { ...cookie, ...headers } }), 'forbidden');
  });

  it('the API has no such thing', async () => {
    for (const path of ['/admin/api/live/', '/license/api/svc/live/'])
      expectFailure(await jsonCall(new URL(path, server.api).href, { headers: bearer() }), 'not_found');
  });

  it('by GET alone', async () => {
    for (const method of ['POST', 'DELETE', 'PUT']) {
      const reply = await jsonCall(url(), { method, headers: bearer() });
      expectFailure(reply, 'method_not_allowed');
      expect(reply.headers.get('allow')).toBe('GET');
    }
    expect((await httpCall(url(), { method: 'HEAD', headers: bearer() })).status).toBe(405);
  });
});

describe('the stream ends', () => {
  const reasonOf = async (client: LiveClient) => (await client.rest()).at(-1)?.data.reason as unknown;

  it('with the session, and no other does', async () => {
    const [mine, other] = [await signedIn(server), await signedIn(server)];
    const streams = [await page(mine), await page(mine)];
    const others = [await page(other), await page()];
    await callAdmin(server, 'signOut', {}, mine);
    expect(await Promise.all(streams.map((client) => reasonOf(client)))).toEqual([
      'signed_out',
      'signed_out',
    ]);
    for (const client of others) await client.changed('sessions');
  });

  it('when another administrator ends the session', async () => {
    const headers = await signedIn(server);
    const { items } = await server.admin.listSessions({});
    const client = await page(headers);
    await server.admin.endSession({ id: items[0]!.id });
    expect(await reasonOf(client)).toBe('signed_out');
    expectFailure(await jsonCall(`${server.adminOrigin}/admin/api/live/`, { headers }), 'unauthorized');
  });

  it('for the oldest, when there are too many', async () => {
    const first = await page();
    const others = await Promise.all(Array.from({ length: 20 }, () => page()));
    expect(await reasonOf(first)).toBe('too_many_streams');
    await newLicense(server);
    for (const client of others) await client.changed('licenses');
  });

  it('for vanished clients, which free their place', async () => {
    const first = await page();
    for (let round = 0; round < 3; round += 1) {
      const gone = await Promise.all(Array.from({ length: 19 }, () => listening(server)));
      await Promise.all(gone.map((client) => client.vanish()));
      await server.admin.serverInfo({});
    }
    await server.admin.createApiToken({ name: 'still here', role: 'admin' });
    await first.changed('api_tokens');
  });

  it('when the server stops, also for those who read nothing', async () => {
    const stopping = await startTestServer();
    const { hostname, port } = new URL(stopping.adminOrigin);
    const idle: Socket = connect(Number(port), hostname);
    idle.write(
      `GET /admin/api/live/ HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${stopping.runtimeSecret}\r\n\r\n`,
    );
    await once(idle, 'readable');
    const client = await listening(stopping);
    await stopping.stop();
    expect(await reasonOf(client)).toBe('stopping');
    idle.destroy();
  });
});
