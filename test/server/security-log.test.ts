// The security log: what concerns access, in a separate file that no flood can rotate away.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_API_ROOT } from '#server/contract.ts';
import { asCommand } from '../helpers/as-command.ts';
import { atOnce } from '../helpers/at-once.ts';
import { newBearer, unique } from '../helpers/contract-calls.ts';
import { newDataDir, startTestServer, type TestServer } from '../helpers/test-server.ts';

let dataDir: string;
let server: TestServer;

const logDir = () => join(dataDir, 'logs');
const fileOf = (number: number) => join(logDir(), `security.${number}.log`);

// oxlint-disable-next-line typescript/no-explicit-any -- lines have the fields of their event
const lines = (number = 1): any[] =>
  readFileSync(fileOf(number), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
const eventsIn = (number?: number) => lines(number).map(({ event }) => event as string);

beforeEach(async () => {
  dataDir = await newDataDir();
});
afterEach(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

async function start(flags: Record<string, string> = {}): Promise<TestServer> {
  server = await startTestServer({ dataDir, flags });
  return server;
}

const signIn = (code: string) =>
  fetch(`${server.adminOrigin}${ADMIN_API_ROOT}/session/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });

it('has sign-ins, refused ones included, API tokens and changed settings, each with who did it', async () => {
  await start();
  const { token } = await server.admin.createApiToken({ name: 'erp', role: 'integrator' });
  await server.admin.revokeApiToken({ id: token.id });
  await server.admin.updateSettings({ changes: { scan_seconds: 30 } });
  const code = new URL(server.signInAddress).searchParams.get('code') ?? '';
  expect((await signIn(code)).status).toBe(200);
  expect((await signIn(code)).status).toBe(401);
  await server.admin.createLicense({ holder: 'Not about access' });

  expect(eventsIn()).toEqual([
    'api_token.created',
    'api_token.revoked',
    'settings.changed',
    'session.signed_in',
    'credential.refused',
  ]);
  const [created, , changed, signedIn, refused] = lines();
  expect(created).toMatchObject({
    time: expect.stringMatching(/^\d{4}-.*Z$/u) as string,
    actor: { kind: 'cli', name: 'tester' },
    subject: `api_token:${token.id}`,
    after: { name: 'erp', role: 'integrator' },
    request_id: expect.any(String) as string,
  });
  expect(changed).toMatchObject({ after: { scan_seconds: '30' } });
  expect(signedIn).toMatchObject({
    actor: { kind: 'session' },
    subject: expect.stringMatching(/^session:/u) as string,
  });
  expect(refused).toMatchObject({
    credential: 'sign_in_code',
    address: expect.stringContaining('127.0.0.1') as string,
  });
  expect((statSync(fileOf(1)).mode & 0o777).toString(8)).toBe('600');
});

it('has no secret in it', async () => {
  await start();
  const bearer = await newBearer(server);
  const secrets = ['ldk_this-one-is-wrong', bearer['authorization']!.slice('Bearer '.length)];
  await server.get('/plans/', { authorization: `Bearer ${secrets[0]}` });
  await server.get('/certs/download-key/?token=ldd_wrong');
  const text = readFileSync(fileOf(1), 'utf8');
  for (const secret of [...secrets, 'ldd_wrong', server.runtimeSecret]) expect(text).not.toContain(secret);
  expect(
    lines()
      .map(({ credential }) => credential as string)
      .filter(Boolean),
  ).toEqual(['api_token', 'download_token']);
});

describe('refused credentials', () => {
  const wrong = (address: string, authorization = 'Bearer ldk_wrong') =>
    server.get('/plans/', { authorization, 'x-forwarded-for': address });
  const refusals = () => lines().filter(({ event }) => event === 'credential.refused');

  it('are written once for each address and minute, then counted', async () => {
    await start({ 'trust-proxy': 'on' });
    await atOnce(50, () => wrong('192.0.2.1'));
    await wrong('192.0.2.2');
    expect(refusals()).toHaveLength(2);
    await server.stop();
    expect(refusals()).toHaveLength(3);
    expect(refusals().at(-1)).toMatchObject({ credential: 'api_token', address: '192.0.2.1', repeated: 49 });
  });

  it('from many addresses are counted together', async () => {
    await start({ 'trust-proxy': 'on' });
    await atOnce(100, (number) => wrong(`192.0.2.${number}`));
    expect(refusals()).toHaveLength(20);
    await server.stop();
    expect(refusals()).toHaveLength(21);
    expect(refusals().at(-1)).toMatchObject({ address: null, repeated: 80 });
  });

  it('leave calls without any credential out', async () => {
    await start();
    expect((await server.get('/plans/')).status).toBe(401);
    await server.admin.createApiToken({ name: unique('token'), role: 'admin' });
    expect(refusals()).toEqual([]);
  });
});

it('is written by commands without a server, too', async () => {
  await start();
  await server.stop();
  await asCommand(dataDir, (admin) => admin.createApiToken({ name: 'offline', role: 'admin' }));
  expect(lines().at(-1)).toMatchObject({ event: 'api_token.created', after: { name: 'offline' } });
});

it('begins a new file when one is full, and keeps the newest five', async () => {
  mkdirSync(logDir(), { recursive: true });
  for (const number of [1, 2, 3, 4, 5]) writeFileSync(fileOf(number), '');
  writeFileSync(fileOf(6), 'x'.repeat(10 * 1024 * 1024));
  await start();
  await newBearer(server);
  await newBearer(server);
  expect(eventsIn(7)).toEqual(['api_token.created', 'api_token.created']);
  const numbers = readdirSync(logDir()).flatMap((name) => /^security\.(\d+)\.log$/u.exec(name)?.[1] ?? []);
  expect(numbers.toSorted()).toEqual(['3', '4', '5', '6', '7']);
});
