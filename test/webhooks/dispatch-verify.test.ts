// What a partner gets: registered over HTTP, verified by receivers that are not ours.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { webhookContract } from '#server/features/webhooks/webhook-contract.ts';
import { atOnce } from '../helpers/at-once.ts';
import { activateDevice, callRow, newBearer, newLicense } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { isLongLane } from '../helpers/long-lane.ts';
import { expectSuccess } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { type Reply, startTestServer, type TestServer } from '../helpers/test-server.ts';
import { CertificateAuthority } from './certificate-authority.ts';
import {
  allIn,
  attemptsOnce,
  deliveriesOnce,
  registerPath,
  registerWebhook,
  webhookFlags,
} from './partner.ts';
import { type PythonReceiver, type Received, startPythonReceiver } from './python-receiver.ts';
import { startReceiver } from './receiver.ts';

const DAY_MS = 86_400_000;
/** Per license. One page lists 500 deliveries, so 50 licenses can have ten renewals each. */
const RENEWALS = isLongLane ? 10 : 3;
const HOLDERS = ['Žofie Nováková', '株式会社デジタル', 'Ünïcödé "& Söhne" </script>', '🔑 Ключ и сыновья'];

let receiver: PythonReceiver;
let server: TestServer;
let bearer: Record<string, string>;

beforeAll(async () => {
  receiver = await startPythonReceiver();
  server = await startTestServer({ flags: { ...webhookFlags(receiver, 0.05), 'scan-seconds': '1' } });
  bearer = await newBearer(server);
});
afterAll(() => server.stop());

/** By the table of the contract's section 2. */
const STATUSES = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  webhook_not_found: 404,
  webhook_url_forbidden: 422,
};

function expectFailure({ status, body }: Reply, code: keyof typeof STATUSES): void {
  expect({ status, ...body }).toMatchObject({ status: STATUSES[code], ok: false, error_code: code });
}

const renew = async (license: { license_id: number }, days = 1) =>
  server.admin.renewLicense({ ref: String(license.license_id), days });
const bodyOf = ({ body }: Received) => JSON.parse(body) as Record<string, unknown>;
const { registerWebhook: REGISTER, deleteWebhook: DELETE, listWebhooks: LIST } = webhookContract;

describe('registration', () => {
  it('is for administrators, who see the secret once', async () => {
    const request = { url: receiver.url('/registered'), scope: 'license.renewed', description: 'Händler' };
    expectFailure(await callRow(server, REGISTER, request), 'unauthorized');
    const integrator = await newBearer(server, 'integrator');
    expectFailure(await callRow(server, REGISTER, request, integrator), 'forbidden');

    const reply = await callRow(server, REGISTER, request, bearer);
    expectSuccess(REGISTER, reply);
    const { webhook, secret } = reply.body as { webhook: { id: number }; secret: string };
    expect(webhook).toMatchObject({ ...request, status: 'active', last_delivery_at: null, last_error: null });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/u);

    const listed = await callRow(server, LIST, {}, integrator);
    expectSuccess(LIST, listed);
    expect(listed.body.webhooks[0]).toEqual(webhook);
    expect(JSON.stringify(listed.body)).not.toContain('whsec_');
    expectFailure(await callRow(server, DELETE, { id: webhook.id }, integrator), 'forbidden');
    expectSuccess(DELETE, await callRow(server, DELETE, { id: webhook.id }, bearer));
    expectFailure(await callRow(server, DELETE, { id: webhook.id }, bearer), 'webhook_not_found');
    const inBody = await server.call('DELETE', '/webhooks/', { id: webhook.id }, bearer);
    expectFailure(inBody, 'webhook_not_found');
    expect((await callRow(server, LIST, {}, bearer)).body.webhooks).toEqual([]);
  });

  it('keeps a repeated Idempotency-Key to one registration', async () => {
    const request = { url: receiver.url('/idempotent'), scope: 'license.upgraded' };
    const headers = { ...bearer, 'idempotency-key': 'one-registration' };
    const first = await callRow(server, REGISTER, request, headers);
    const second = await callRow(server, REGISTER, request, headers);
    expect(first.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expectSuccess(DELETE, await callRow(server, DELETE, { id: first.body.webhook.id }, bearer));
  });

  it.each([
    ['another scope', { scope: 'license.deleted' }, 'invalid_request'],
    ['no scope', { scope: undefined }, 'invalid_request'],
    ['no URL', { url: 'nowhere' }, 'invalid_request'],
    ['HTTP', { url: 'http://127.0.0.1/hook' }, 'webhook_url_forbidden'],
    ['a private address', { url: 'https://192.168.0.9/hook' }, 'webhook_url_forbidden'],
    ['a metadata address', { url: 'https://169.254.169.254/latest/' }, 'webhook_url_forbidden'],
    ['loopback by IPv6', { url: 'https://[::1]/hook' }, 'webhook_url_forbidden'],
    ['credentials', { url: 'https://user:pass@127.0.0.1/hook' }, 'webhook_url_forbidden'],
    ['an unknown name', { url: 'https://nowhere.invalid/hook' }, 'webhook_url_forbidden'],
  ] as const)('refuses %s', async (_what, fields, code) => {
    const request = JSON.parse(
      JSON.stringify({ url: receiver.url('/refused'), scope: 'all', ...fields }),
    ) as object;
    const reply = await server.post('/webhooks/register/', request, bearer);
    expectFailure(reply, code);
  });

  it('ends with its open deliveries cancelled', async () => {
    const path = '/deleted';
    const registered = await registerPath(server, receiver, path);
    await receiver.configure(path, { answers: [{ status: 500, hold: true }] });
    const license = await newLicense(server);
    for (let number = 0; number < 22; number += 1) await renew(license);
    // A receiver that hangs gets 20 attempts at a time; the other two deliveries wait.
    const underWay = await receiver.received(path, 20);
    expectSuccess(DELETE, await callRow(server, DELETE, { id: registered.webhook.id }, bearer));
    const cancelled = await allIn(server, registered, 'cancelled', 22);
    for (const delivery of cancelled) expect(delivery.next_attempt_at).toBeNull();

    await receiver.release(path);
    for (const { delivery: id } of underWay) await attemptsOnce(server, id, 1);
    await renew(license);
    // Answered too late to change anything, and nothing new.
    await allIn(server, registered, 'cancelled', 22);
    expect(receiver.to(path).length).toBe(20);
    const { delivery } = await server.admin.retryDelivery({ id: cancelled[0]!.id });
    expect(delivery).toEqual(cancelled[0]);
  });
});

describe('a scope', () => {
  it('of one event gets only that event, `all` gets everything', async () => {
    const all = await registerPath(server, receiver, '/scope-all');
    const one = await registerPath(server, receiver, '/scope-one', 'license.revoked');
    const license = await newLicense(server);
    await renew(license);
    await server.admin.upgradeLicense({ ref: license.license_key, plan: 'enterprise' });
    await server.admin.revokeLicense({ ref: license.license_key });
    await allIn(server, all, 'delivered', 3);
    await allIn(server, one, 'delivered', 1);
    const events = (path: string) =>
      receiver
        .to(path)
        .map(({ event }) => event)
        .toSorted();
    expect(events('/scope-all')).toEqual(['license.renewed', 'license.revoked', 'license.upgraded']);
    expect(events('/scope-one')).toEqual(['license.revoked']);
    for (const { webhook } of [all, one])
      expectSuccess(DELETE, await callRow(server, DELETE, { id: webhook.id }, bearer));
  });
});

describe('every license event', () => {
  it('arrives once, with its fields', async () => {
    const path = '/every';
    const registered = await registerPath(server, receiver, path);
    const plan = (await server.admin.createPlan({ name: 'no-grace', grace_days: 0 })).plan.name;
    const endingAt = (ms: number) => new Date(Date.now() + ms).toISOString();
    const holder = HOLDERS[1]!;
    const expiring = await newLicense(server, { holder, expires_at: endingAt(3 * DAY_MS) });
    const inGrace = await newLicense(server, { holder, plan: 'enterprise', expires_at: endingAt(-DAY_MS) });
    const expired = await newLicense(server, { holder, plan, expires_at: endingAt(-DAY_MS) });
    const changed = await newLicense(server, { holder });
    const { activation } = await activateDevice(server, changed);
    const renewed = await renew(changed, 10);
    await server.admin.upgradeLicense({ ref: changed.license_key, plan: 'enterprise' });
    await server.admin.revokeLicense({ ref: changed.license_key, reason: 'žaloba' });
    const deliveries = await allIn(server, registered, 'delivered', 7);

    const coreOf = (license: typeof changed, fields: object = {}) => ({
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/u) as unknown,
      license_id: license.license_id,
      license_key: license.license_key,
      holder,
      product: license.product,
      plan: license.plan,
      machine_fingerprint: null,
      issued_at: license.issued_at,
      expires_at: license.expires_at,
      ...fields,
    });
    const device = { machine_fingerprint: activation.machine_fingerprint };
    const longer = { ...device, expires_at: renewed.license.expires_at };
    const upgraded = { ...longer, plan: 'enterprise' };
    const expected = [
      { event: 'license.activated', ...coreOf(changed, device) },
      { event: 'license.expired', ...coreOf(expired) },
      { event: 'license.expiring', ...coreOf(expiring), days_left: expect.any(Number) as unknown },
      { event: 'license.in_grace', ...coreOf(inGrace), grace_ends_at: inGrace.grace_ends_at },
      {
        event: 'license.renewed',
        ...coreOf(changed, longer),
        previous_expires_at: changed.expires_at,
      },
      { event: 'license.revoked', ...coreOf(changed, upgraded), reason: 'žaloba' },
      { event: 'license.upgraded', ...coreOf(changed, upgraded), previous_plan: 'standard' },
    ];
    const received = receiver.to(path).toSorted((a, b) => (a.event < b.event ? -1 : 1));
    expect(received.map(bodyOf)).toEqual(expected);
    expect(received.map(({ delivery }) => delivery).toSorted((a, b) => a - b)).toEqual(
      deliveries.map(({ id }) => id).toSorted((a, b) => a - b),
    );
    for (const request of received) {
      expect(request).toMatchObject({
        content_type: 'application/json',
        event: bodyOf(request).event,
        license_signature: expect.stringMatching(/^sha256=[0-9a-f]{64}$/u) as unknown,
        by_license: [0],
        by_standard: [0],
      });
      const { body } = await server.admin.showDelivery({ id: request.delivery });
      expect(request.sha256).toBe(createHash('sha256').update(body).digest('hex'));
    }
    expectSuccess(DELETE, await callRow(server, DELETE, { id: registered.webhook.id }, bearer));
  });
});

describe('signatures', () => {
  it('of many events verify in Python and by standardwebhooks', async () => {
    const path = '/many';
    const authority = new CertificateAuthority();
    const own = await startReceiver(authority.issue({}));
    const request = { url: own.url, scope: 'license.renewed', ca: authority.cert };
    authority.remove();
    const standard = (await callRow(server, REGISTER, request, bearer)).body as {
      webhook: { id: number };
      secret: string;
    };
    const python = await registerPath(server, receiver, path, 'license.renewed');
    const licenses = await atOnce(50, (number) =>
      newLicense(server, { holder: `${HOLDERS[number % HOLDERS.length]} ${number}`.trim() }),
    );
    const events = licenses.length * RENEWALS;
    for (let round = 0; round < RENEWALS; round += 1)
      await Promise.all(licenses.map((license) => renew(license)));
    await receiver.received(path, events);
    await allIn(server, python, 'delivered', events);

    const received = receiver.to(path);
    expect(received.length).toBe(events);
    expect(new Set(received.map(({ delivery }) => delivery)).size).toBe(events);
    expect(new Set(received.map(({ message }) => message)).size).toBe(events);
    expect(
      received.filter(({ by_license, by_standard }) => !by_license.length || !by_standard.length),
    ).toEqual([]);
    expect(received.filter(({ by_altered }) => by_altered.length > 0)).toEqual([]);
    const holders = new Set(received.map((each) => bodyOf(each).holder));
    expect(holders).toEqual(new Set(licenses.map(({ holder }) => holder)));

    await allIn(server, standard as typeof python, 'delivered', events);
    const verifier = new Webhook(standard.secret);
    expect(own.requests.length).toBe(events);
    for (const {
      request: { headers },
      body,
    } of own.requests) {
      const given = headers as Record<string, string>;
      expect(verifier.verify(body, given)).toEqual(JSON.parse(body));
      const altered = body.replace('"license_id":', '"license_ie":');
      expect(altered).not.toBe(body);
      expect(() => verifier.verify(altered, given)).toThrow('No matching signature');
      expect(() => new Webhook(python.secret).verify(body, given)).toThrow('No matching signature');
    }
    // One event is one message, whoever gets it.
    const messages = own.requests.map(({ request: { headers } }) => headers['webhook-id']);
    expect(new Set(messages)).toEqual(new Set(received.map(({ message }) => message)));
    // Connections are kept: a receiver that answers slowly gets as many as attempts run at once.
    expect(own.connections).toBeLessThan(50);
    for (const { webhook } of [standard, python])
      expectSuccess(DELETE, await callRow(server, DELETE, { id: webhook.id }, bearer));
  });

  it('fail for one altered byte, and the same bytes come again', async () => {
    const path = '/altered';
    const registered = await registerPath(server, receiver, path);
    await receiver.configure(path, { alter: true });
    await renew(await newLicense(server, { holder: HOLDERS[3]!.trim() }));
    const [first] = await receiver.received(path, 1);
    expect(first).toMatchObject({ by_license: [], by_standard: [] });
    const [failing] = await deliveriesOnce(server, registered, ([delivery]) => !!delivery?.last_error);
    expect(failing?.last_error).toBe('HTTP 401');
    await receiver.configure(path, { alter: false });
    await allIn(server, registered, 'delivered', 1);
    const requests = receiver.to(path);
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.at(-1)).toMatchObject({ by_license: [0], by_standard: [0] });
    const same = ({ delivery, message, event, sha256, body, license_signature }: Received) =>
      JSON.stringify({ delivery, message, event, sha256, body, license_signature });
    expect(new Set(requests.map(same)).size).toBe(1);
    expectSuccess(DELETE, await callRow(server, DELETE, { id: registered.webhook.id }, bearer));
  });

  it.each([1, 2])('are made with all secrets, rotations: %i', async (rotations) => {
    const path = `/rotated-${rotations}`;
    const registered = await registerPath(server, receiver, path);
    const secrets = [registered.secret];
    for (let count = 0; count < rotations; count += 1)
      secrets.push((await server.admin.rotateWebhookSecret({ id: registered.webhook.id })).secret);
    expect(new Set(secrets).size).toBe(rotations + 1);
    await receiver.configure(path, { secrets });
    await renew(await newLicense(server));
    const [request] = await receiver.received(path, 1);
    expect(request).toMatchObject({
      signature_count: rotations + 1,
      by_standard: [...secrets.keys()],
      by_license: [rotations],
    });
    await allIn(server, registered, 'delivered', 1);
    expectSuccess(DELETE, await callRow(server, DELETE, { id: registered.webhook.id }, bearer));
  });

  it('are made with each secret until 24 hours after it was replaced, five at most', async () => {
    const authority = new CertificateAuthority();
    const own = await startReceiver(authority.issue({}));
    const clock = createTestClock();
    const ahead = await startTestServer({ clock });
    onTestFinished(() => ahead.stop());
    const registered = await ahead.admin.registerWebhook({ url: own.url, scope: 'all', ca: authority.cert });
    authority.remove();
    const { id } = registered.webhook;
    const secrets = [registered.secret];
    const rotate = async () => secrets.push((await ahead.admin.rotateWebhookSecret({ id })).secret);
    /** Which of the secrets sign, in the order of their signatures. */
    async function signing(): Promise<number[]> {
      await ahead.admin.testWebhook({ id });
      const { request, body } = own.requests.at(-1)!;
      const given = request.headers as Record<string, string>;
      const sentAt = new Date(Number(given['webhook-timestamp']) * 1000);
      const signatures = secrets.map((secret) =>
        new Webhook(secret).sign(given['webhook-id']!, sentAt, body),
      );
      return given['webhook-signature']!.split(' ').map((signature) => signatures.indexOf(signature));
    }

    await rotate();
    clock.advance(DAY_MS / 2);
    await rotate();
    expect(await signing()).toEqual([2, 1, 0]);
    clock.advance(DAY_MS / 2);
    expect(await signing()).toEqual([2, 1]);
    clock.advance(DAY_MS / 2);
    expect(await signing()).toEqual([2]);

    for (let count = 0; count < 4; count += 1) await rotate();
    expect(await signing()).toEqual([6, 5, 4, 3, 2]);
    await rotate();
    expect(await signing()).toEqual([7, 6, 5, 4, 3]);
  });
});

describe('the secret', () => {
  it('is nowhere in what the server writes', async () => {
    const dataDir = await keptDataDir();
    const own = await startTestServer({ dataDir, flags: webhookFlags(receiver, 0.02) });
    const path = '/secret';
    const { webhook, secret } = await registerPath(own, receiver, path);
    const headers = { ...(await newBearer(own)), 'idempotency-key': 'kept-reply' };
    const request = { url: receiver.url('/secret-too'), scope: 'license.revoked' };
    const other = (await callRow(own, REGISTER, request, headers)).body as { secret: string };
    const rotated = await own.admin.rotateWebhookSecret({ id: webhook.id });
    // A reply that echoes nothing, a failure, and a test, all of which leave traces.
    await receiver.configure(path, { secrets: [rotated.secret], answers: [{ status: 500 }] });
    const { license_id } = await newLicense(own);
    await own.admin.renewLicense({ ref: String(license_id), days: 1 });
    await allIn(own, { webhook }, 'failed', 1);
    await own.admin.testWebhook({ id: webhook.id });
    const again = await registerWebhook(own, receiver.url('/secret-again'));
    await own.stop();

    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const written = Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
    expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['license-desk.db']));
    expect(written.includes(receiver.url(path))).toBe(true);
    for (const each of [secret, other.secret, rotated.secret, again.secret]) {
      const encoded = each.slice('whsec_'.length);
      const bytes = Buffer.from(encoded, 'base64');
      for (const spelling of [encoded, bytes, bytes.toString('hex'), bytes.toString('base64url')])
        expect(written.includes(spelling)).toBe(false);
      expect(written.includes(Buffer.from(each).toString('base64').slice(0, 56))).toBe(false);
    }
    const sealed = await selectRows(dataDir, 'SELECT secret_sealed FROM webhooks');
    expect(new Set(sealed.map((row) => row.secret_sealed as string)).size).toBe(3);
  });
});
