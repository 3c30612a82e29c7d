// Every secret goes its way once; then nothing that the server wrote may hold any of them.
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSealer } from '#server/platform/sealer.ts';
import { selectRows } from '../helpers/database.ts';
import { exchangeBytes } from '../helpers/raw-http.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { fingerprintOf } from '../helpers/test-server.ts';
import { allIn, registerPath, webhookFlags } from '../webhooks/partner.ts';
import { type PythonReceiver, startPythonReceiver } from '../webhooks/python-receiver.ts';

/** The secrets by what they are, each in every spelling to look for. */
const secrets = new Map<string, (string | Buffer)[]>();
/** What the server wrote, by where. */
const written: Record<'log' | 'stderr' | 'database' | 'cache' | 'sessions', Buffer> = {
  log: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  database: Buffer.alloc(0),
  cache: Buffer.alloc(0),
  sessions: Buffer.alloc(0),
};
/** What must be found, to prove that the search finds. */
const known = { requestId: 'known-request-id', licenseKey: '', tokenHash: '', webhookUrl: '' };

let server: ServerProcess;
let licenseKey: string;

function keep(what: string, ...spellings: (string | Buffer)[]): void {
  secrets.set(what, spellings);
}

function keepBytes(what: string, bytes: Buffer): void {
  const encoded = (['base64', 'base64url', 'hex'] as const).map((encoding) => bytes.toString(encoding));
  keep(what, bytes, ...encoded, bytes.toString('hex').toUpperCase());
}

/** A call whatever it looks like, such as no client of ours would make. */
async function call(method: string, url: string, headers: Record<string, string> = {}, body?: string) {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const json = { 'content-type': 'application/json' };

async function newToken(what: string): Promise<string> {
  const product = what.replaceAll(/[^a-z]+/gu, '-');
  const { token } = await server.admin.issueToken({ license: licenseKey, product });
  keep(what, token);
  return token;
}

async function useAuthorizationTokens(): Promise<void> {
  const token = await newToken('authorization token');
  known.tokenHash = createHash('sha256').update(token).digest('hex');
  await server.post('/authorize/token/', { token, product_slug: 'authorization-token' });
  await server.post('/authorize/token/', { token }, { 'x-request-id': known.requestId });
  await newToken('authorization token that replaced it').then((next) =>
    server.post('/authorize/token/', { token: next }),
  );

  const unknown = `ldt_${randomBytes(32).toString('base64url')}`;
  keep('unknown authorization token', unknown);
  await server.post('/authorize/token/', { token: unknown });
  const misplaced: [string, (secret: string) => Promise<unknown>][] = [
    ['query string', (secret) => call('POST', `${server.api}/authorize/token/?token=${secret}`, json, '{}')],
    ['header', (secret) => server.post('/authorize/token/', {}, { authorization: `Bearer ${secret}` })],
    [
      'invalid JSON',
      (secret) => call('POST', `${server.api}/authorize/token/`, json, `{"token":"${secret}"`),
    ],
    [
      'body of another type',
      (secret) => call('POST', `${server.api}/authorize/token/`, {}, `token=${secret}`),
    ],
    ['wrong field', (secret) => server.post('/authorize/token/', { token: 1, product_slug: secret })],
    [
      'field of another request',
      (secret) => server.post('/authorize/', { license_key: secret, feature: secret }),
    ],
    [
      'oversized body',
      (secret) => server.post('/authorize/token/', { token: secret, padding: 'x'.repeat(70_000) }),
    ],
    ['path', (secret) => call('POST', `${server.api}/authorize/token/${secret}/`, json, '{}')],
    [
      'X-Request-Id',
      (secret) => server.post('/authorize/token/', { token: secret }, { 'x-request-id': secret }),
    ],
    ['X-Request-Id of a change', (secret) => changeWith({ 'x-request-id': secret })],
    ['X-Request-Id after a word', (secret) => server.get('/health/', { 'x-request-id': `call-${secret}` })],
    ['Host header', (secret) => call('GET', server.adminOrigin, { host: `${secret}.example` })],
    [
      'cookie',
      (secret) => call('GET', `${server.adminOrigin}/admin/api/server-info/`, { cookie: `a=${secret}` }),
    ],
    ['path of the back office', (secret) => call('GET', `${server.adminOrigin}/admin/api/tokens/${secret}/`)],
    ['request that is no HTTP', sendBroken],
  ];
  for (const [where, use] of misplaced) await use(await newToken(`token in the ${where}`));
}

async function changeWith(headers: Record<string, string>): Promise<void> {
  const request = { license_key: licenseKey, machine_fingerprint: fingerprintOf(99) };
  expect((await server.post('/activate/', request, headers)).status).toBe(200);
}

async function sendBroken(secret: string): Promise<void> {
  const reply = await exchangeBytes(server.api, `NONSENSE ${secret}\r\n\r\n`);
  expect(reply).toMatch(/^HTTP\/1\.1 400 /u);
}

async function useApiTokens(): Promise<void> {
  const { api_token: token, token: row } = await server.admin.createApiToken({
    name: 'Secretive',
    role: 'admin',
  });
  keep('API token', token);
  const bearer = { authorization: `Bearer ${token}` };
  const renewal = { license_key: licenseKey, days: 3 };
  for (let time = 0; time < 2; time += 1) {
    const reply = await server.post('/renew/', renewal, { ...bearer, 'idempotency-key': 'secretive-1' });
    expect(reply.status).toBe(200);
  }
  await server.get(`/plans/?api_token=${token}`, bearer);
  await server.admin.revokeApiToken({ id: row.id });
  expect((await server.get('/plans/', bearer)).status).toBe(401);
  const unknown = `ldk_${randomBytes(32).toString('base64url')}`;
  keep('unknown API token', unknown);
  expect((await server.get('/plans/', { authorization: `Bearer ${unknown}` })).status).toBe(401);
}

async function signIn(): Promise<void> {
  const code = new URL(server.ready.admin).searchParams.get('code') as string;
  keep('sign-in code of the ready line', code);
  await call('GET', server.ready.admin);
  const session = `${server.adminOrigin}/admin/api/session/`;
  const reply = await call('POST', session, json, JSON.stringify({ code }));
  const cookie = reply.headers.get('set-cookie')?.split(';')[0] as string;
  keep('session cookie', cookie.split('=')[1] as string);
  const overview = await call('GET', `${server.adminOrigin}/admin/api/server-info/`, { cookie });
  expect(overview.status).toBe(200);
  expect((await call('POST', session, json, JSON.stringify({ code }))).status).toBe(401);

  const { address } = await server.admin.createSignInCode({});
  keep('sign-in code of the CLI', new URL(address).searchParams.get('code') as string);
  await call('GET', address);
  keep('wrong sign-in code', 'wrong-code-that-nobody-gave-out');
  await call('POST', session, json, '{"code":"wrong-code-that-nobody-gave-out"}');
  keep('runtime secret', server.runtimeSecret);
}

async function useLeases(): Promise<void> {
  await server.admin.createPlan({ name: 'discreet', licensing: 'floating', seats: 1 });
  const { license } = await server.admin.createLicense({ holder: 'Discreet', plan: 'discreet' });
  const checkOut = async (instance_id: string) => {
    const request = { license_key: license.license_key, instance_id, wait_seconds: 60 };
    return (await server.post('/leases/checkout/', request)).body as Record<string, string>;
  };
  const { lease_token = '' } = await checkOut('instance-that-holds-a-seat');
  const { ticket = '' } = await checkOut('instance-that-waits-for-a-seat');
  for (const [what, secret] of [
    ['lease token', lease_token],
    ['ticket of the queue', ticket],
  ] as const) {
    keep(what, secret);
    await call('POST', `${server.api}/leases/release/${secret}/`, json, '{}');
    await server.post('/leases/release/', { lease_token: secret }, { 'x-request-id': `call-${secret}` });
  }
}

async function useLicenseFiles(): Promise<void> {
  const bodyLines = (file: string) =>
    file.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
  for (const encrypt of [false, true]) {
    const device = { license_key: licenseKey, machine_fingerprint: fingerprintOf(Number(encrypt)) };
    const { body } = await server.post('/activate/', { ...device, encrypt });
    const { license_file } = body as { license_file: string };
    keep(encrypt ? 'encrypted license file' : 'license file', ...bodyLines(license_file));
    const request = { license_file, ...(encrypt ? device : {}) };
    const validation = await server.post('/validate-offline/', request);
    expect(validation.body).toMatchObject({ valid: true });
    await server.post('/validate-offline/', { ...request, license_file: license_file.slice(0, -90) });
  }
}

function keepWebhookSecret(what: string, secret: string): void {
  keepBytes(`bytes of the ${what}`, Buffer.from(secret.slice('whsec_'.length), 'base64'));
  keep(what, secret, Buffer.from(secret).toString('base64').slice(0, 56));
}

async function useWebhooks(receiver: PythonReceiver): Promise<void> {
  const accepting = await registerPath(server, receiver, '/accepting');
  const failing = await registerPath(server, receiver, '/failing');
  await receiver.configure('/failing', { answers: [{ status: 500 }] });
  known.webhookUrl = accepting.webhook.url;
  keepWebhookSecret('webhook secret', accepting.secret);
  keepWebhookSecret('secret of a webhook that fails', failing.secret);
  const { api_token: token } = await server.admin.createApiToken({ name: 'Registrar', role: 'admin' });
  keep('API token of the registrar', token);
  const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'registered-once' };
  const request = { url: receiver.url('/kept-reply'), scope: 'license.upgraded' };
  for (let time = 0; time < 2; time += 1) {
    const { body } = await server.post('/webhooks/register/', request, headers);
    keepWebhookSecret('webhook secret in a kept reply', (body as { secret: string }).secret);
  }
  const [rotated, again] = [
    await server.admin.rotateWebhookSecret({ id: accepting.webhook.id }),
    await server.admin.rotateWebhookSecret({ id: failing.webhook.id }),
  ];
  keepWebhookSecret('rotated webhook secret', rotated.secret);
  keepWebhookSecret('rotated secret of a webhook that fails', again.secret);
  await receiver.configure('/accepting', { secrets: [rotated.secret] });

  // While both secrets sign.
  await server.admin.renewLicense({ ref: licenseKey, days: 1 });
  await allIn(server, accepting, 'delivered', 1);
  const [failed] = await allIn(server, failing, 'failed', 1);
  await server.admin.showDelivery({ id: failed!.id });
  await server.admin.retryDelivery({ id: failed!.id });
  for (const { webhook } of [accepting, failing]) await server.admin.testWebhook({ id: webhook.id });
  const { webhooks } = await server.admin.listWebhooks({});
  expect(JSON.stringify(webhooks)).not.toContain('whsec_');

  const misplaced = `whsec_${randomBytes(32).toString('base64')}`;
  keepWebhookSecret('webhook secret in the wrong place', misplaced);
  await server.post('/webhooks/register/', { url: misplaced, scope: misplaced, secret: misplaced }, headers);
  await server.admin.deleteWebhook({ id: accepting.webhook.id });
}

async function keepKeys(dataDir: string): Promise<void> {
  await server.admin.rotateSigningKey({});
  const master = Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8'), 'base64');
  keepBytes('master key', master);
  const rows = await selectRows(dataDir, 'SELECT private_key_sealed AS sealed FROM signing_keys ORDER BY id');
  for (const [number, { sealed }] of rows.entries()) {
    const pkcs8 = createSealer(master).open('signing-key', sealed as string);
    keepBytes(`signing key ${number + 1}`, pkcs8);
    // The last 32 of its 48 bytes are the key itself (RFC 8410).
    keepBytes(`seed of signing key ${number + 1}`, pkcs8.subarray(-32));
  }
}

function contents(directory: string, wanted: (name: string) => boolean): Buffer {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true });
  const paths = files
    .filter((file) => file.isFile() && wanted(file.name))
    .map((file) => join(file.parentPath, file.name));
  return Buffer.concat(paths.map((path) => readFileSync(path)));
}

beforeAll(async () => {
  const dataDir = temporaryDirectory();
  const receiver = await startPythonReceiver();
  server = await startServerProcess({
    dataDir,
    flags: { 'rate-limit': '0', ...webhookFlags(receiver, 0.02) },
    // With the cache that it has outside of tests.
    env: { NODE_COMPILE_CACHE: '' },
  });
  const { license } = await server.admin.createLicense({ holder: 'Discreet', plan: 'professional' });
  licenseKey = license.license_key;
  known.licenseKey = licenseKey;
  await useAuthorizationTokens();
  await useApiTokens();
  await signIn();
  await useLeases();
  await useLicenseFiles();
  await useWebhooks(receiver);
  await keepKeys(dataDir);

  // The database while its log is still beside it, and once more when that is merged into it.
  const inDatabase = (name: string) => name.startsWith('license-desk.db');
  expect(readdirSync(dataDir)).toContain('license-desk.db-wal');
  const whileRunning = contents(dataDir, inDatabase);
  const { code, stderr } = await server.kill();
  expect(code).toBe(0);
  written.database = Buffer.concat([whileRunning, contents(dataDir, inDatabase)]);
  written.log = contents(join(dataDir, 'logs'), () => true);
  written.cache = contents(join(dataDir, 'cache'), () => true);
  written.stderr = Buffer.from(stderr);
  written.sessions = contents(dataDir, (name) => name === 'sessions.json');
  // All else that is there: the key itself, and nothing that outlives the server.
  const others = readdirSync(dataDir).filter((name) => !inDatabase(name));
  expect(others.toSorted()).toEqual([
    'cache',
    'installation.json',
    'logs',
    'master.key',
    'server.lock',
    'sessions.json',
  ]);
});

it('finds secrets in their allowed places', () => {
  expect(written.log.includes(known.requestId)).toBe(true);
  expect(written.stderr.includes(known.requestId)).toBe(true);
  expect(written.database.includes(known.licenseKey)).toBe(true);
  expect(written.database.includes(known.tokenHash)).toBe(true);
  expect(written.database.includes(known.webhookUrl)).toBe(true);
  expect(secrets.size).toBeGreaterThan(35);
  const short = [...secrets.values()].flat().filter((spelling) => spelling.length < 20);
  expect(short).toEqual([]);
});

describe.each(['log', 'stderr', 'database', 'cache', 'sessions'] as const)('the %s', (where) => {
  it('contains no secret', () => {
    const found = [...secrets].filter(([, spellings]) =>
      spellings.some((spelling) => written[where].includes(spelling)),
    );
    expect(found.map(([what]) => what)).toEqual([]);
  });
});
