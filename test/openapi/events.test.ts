// Every event is delivered to the receivers of the guide, verified by them, and is what the document says.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { EVENT_TRIGGERS } from '#server/wiring/api-docs-events.ts';
import { signatureHeaders, signingKeysOf } from '#server/features/webhooks/delivery-signature.ts';
import { EVENT_NAMES, type EventName, sampleEvent } from '#server/features/events/event-contract.ts';
import { freePort } from '../helpers/free-ports.ts';
import { activateDevice, newLicense } from '../helpers/contract-calls.ts';
import { causeLeaseEvents } from '../helpers/lease-events.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';
import { allIn, registerWebhook } from '../webhooks/partner.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { type OpenApi, readDocument, strictValidator } from './document.ts';

type Body = Record<string, unknown> & { event: EventName };

const DAY_MS = 86_400_000;
const GUIDE = join(import.meta.dirname, '..', '..', 'docs', 'guide', 'webhooks.md');
const RECEIVERS: [language: string, command: string, script: string][] = [
  ['js', process.execPath, 'receiver.mjs'],
  ['python', 'python3', 'receiver.py'],
];

const authority = new CertificateAuthority();
const identity = authority.issue({});
const children: ChildProcess[] = [];
let folder: string;
let server: TestServer;
let document: OpenApi;
let guideText: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'license-desk-guide-'));
  const files = { 'ca.pem': authority.cert, 'cert.pem': identity.cert, 'key.pem': identity.key };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  server = await startTestServer({
    flags: {
      'webhook-allow': '127.0.0.0/8',
      'webhook-ca': join(folder, 'ca.pem'),
      'webhook-backoff-seconds': '0.2',
      'scan-seconds': '1',
    },
  });
  document = await readDocument(server);
  guideText = await readFile(GUIDE, 'utf8');
  for (const [language, , script] of RECEIVERS) await writeFile(join(folder, script), codeBlock(language));
});
afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await server.stop();
  authority.remove();
  await rm(folder, { recursive: true, force: true });
});

/** The only block of the guide in this language. */
function codeBlock(language: string): string {
  const blocks = [...guideText.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gmsu'))];
  expect(blocks.length, language).toBe(1);
  return blocks[0]![1]!;
}

interface GuideReceiver {
  url: string;
  port: number;
  secret: string;
  /** What it accepted, in the order in which it came. */
  events: Body[];
}

async function startGuideReceiver(command: string, script: string): Promise<[GuideReceiver, number]> {
  const port = await freePort();
  const url = `https://127.0.0.1:${port}/hooks`;
  const registered = await registerWebhook(server, url);
  const child = spawn(command, [join(folder, script)], {
    env: {
      ...process.env,
      CERT: join(folder, 'cert.pem'),
      KEY: join(folder, 'key.pem'),
      PORT: String(port),
      SECRET: registered.secret,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const events: Body[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line) as Body));
  const [listening] = (await once(createInterface({ input: child.stderr }), 'line')) as [string];
  expect(listening).toBe(`listening on ${port}`);
  return [{ url, port, secret: registered.secret, events }, registered.webhook.id];
}

/** Causes each event once. */
async function causeEvents(): Promise<void> {
  const endingAt = (ms: number) => new Date(Date.now() + ms).toISOString();
  const { name: plan } = (await server.admin.createPlan({ name: 'no-grace', grace_days: 0 })).plan;
  await newLicense(server, { expires_at: endingAt(3 * DAY_MS) });
  await newLicense(server, { plan: 'enterprise', expires_at: endingAt(-DAY_MS) });
  await newLicense(server, { plan, expires_at: endingAt(-DAY_MS) });
  const license = await newLicense(server);
  const ref = license.license_key;
  await activateDevice(server, license);
  await server.admin.renewLicense({ ref, days: 10 });
  await server.admin.upgradeLicense({ ref, plan: 'enterprise' });
  const { license_id } = license;
  const { certificate } = await server.admin.generateCertificate({ license_id, common_name: 'pc-7' });
  await server.admin.revokeCertificate({ id: certificate.id, reason: 'superseded' });
  await server.admin.revokeLicense({ ref, reason: 'chargeback' });
  await causeLeaseEvents(server);
}

/** Over a new connection. */
function post(url: string, headers: Record<string, string>, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, ca: authority.cert, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject).end(body);
  });
}

it('delivers every event as documented, to receivers that verify it', async () => {
  const own = await startReceiver(identity);
  const recorded = await registerWebhook(server, own.url);
  const guide: [name: string, receiver: GuideReceiver, webhookId: number][] = [];
  for (const [language, command, script] of RECEIVERS)
    guide.push([language, ...(await startGuideReceiver(command, script))]);
  await causeEvents();
  for (const id of [recorded.webhook.id, ...guide.map(([, , webhookId]) => webhookId)])
    await allIn(server, { webhook: { ...recorded.webhook, id } }, 'delivered', EVENT_NAMES.length);

  const sorted = (bodies: readonly Body[]) =>
    bodies.toSorted((a, b) => EVENT_NAMES.indexOf(a.event) - EVENT_NAMES.indexOf(b.event));
  const bodies = sorted(own.requests.map(({ body }) => JSON.parse(body) as Body));
  expect(bodies.map(({ event }) => event)).toEqual(EVENT_NAMES);
  for (const [name, { events }] of guide) {
    await expect.poll(() => events.length, { timeout: 120_000, message: name }).toBe(EVENT_NAMES.length);
    expect(sorted(events), name).toEqual(bodies);
  }

  expect(Object.keys(document.webhooks).toSorted()).toEqual(EVENT_NAMES.toSorted());
  for (const { request: sent, body } of own.requests) {
    const event = JSON.parse(body) as Body;
    const { parameters = [], requestBody } = document.webhooks[event.event]!.post;
    const content = requestBody!.content['application/json']!;
    const validate = strictValidator(document, content.schema);
    for (const value of [event, content.example])
      expect(validate(value), `${event.event}: ${JSON.stringify(validate.errors)}`).toBe(true);
    for (const { name, schema } of parameters) {
      const given = sent.headers[name.toLowerCase()] as string;
      const value = schema.type === 'integer' ? Number(given) : given;
      expect(strictValidator(document, schema)(value), `${event.event} ${name}: ${given}`).toBe(true);
    }
  }

  const [first] = own.requests;
  for (const [name, { url, events }] of guide) {
    const foreign = first!.request.headers['x-license-webhook-signature'] as string;
    const before = events.length;
    const headers = { 'content-length': String(Buffer.byteLength(first!.body)), 'x-license-delivery': '999' };
    expect(await post(url, headers, first!.body), name).toBe(401);
    const signed = { ...headers, 'x-license-webhook-signature': foreign };
    expect(await post(url, signed, first!.body), name).toBe(401);
    expect(events.length).toBe(before);
  }
});

/** Sends the start of an upload, then closes the connection. Resolves once the receiver has closed it too. */
async function breakOffUpload(port: number): Promise<void> {
  const socket = connectTls({ port, host: '127.0.0.1', ca: authority.cert });
  await once(socket, 'secureConnect');
  socket.resume().end('POST /hooks HTTP/1.1\r\nHost: receiver\r\nContent-Length: 100\r\n\r\n{');
  await once(socket, 'close');
}

it.each(RECEIVERS)(
  'the receiver in %s outlives broken uploads, bodies that it cannot process and connections without a handshake',
  async (_language, command, script) => {
    const [{ url, port, secret, events }] = await startGuideReceiver(command, script);
    let deliveries = 0;
    const deliver = (body: string) => {
      const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
      deliveries += 1;
      return post(
        url,
        {
          'content-length': String(Buffer.byteLength(body)),
          'x-license-delivery': String(deliveries),
          'x-license-webhook-signature': signature,
        },
        body,
      );
    };
    await breakOffUpload(port);
    expect(await deliver('{"event":"after a broken upload"}')).toBe(204);
    expect(await deliver('not JSON')).toBe(204);
    expect(await deliver('{"event":"after a body that is not JSON"}')).toBe(204);
    const idle = connect(port, '127.0.0.1');
    onTestFinished(() => void idle.destroy());
    await once(idle, 'connect');
    expect(await deliver('{"event":"beside an idle connection"}')).toBe(204);
    await expect
      .poll(() => events.map(({ event }) => event))
      .toEqual(['after a broken upload', 'after a body that is not JSON', 'beside an idle connection']);
  },
);

it.each(RECEIVERS)('the receiver in %s shows every test event', async (_language, command, script) => {
  const [{ events }, id] = await startGuideReceiver(command, script);
  for (const _ of [1, 2])
    expect((await server.admin.testWebhook({ id })).attempt).toMatchObject({ status: 204 });
  await expect.poll(() => events.map(({ event }) => event)).toEqual(['webhook.test', 'webhook.test']);
});

it('the guide signs a delivery with OpenSSL as the server does', async () => {
  const [, script = ''] = /^```sh\n((?:(?!^```).)*openssl dgst.*?)^```/msu.exec(guideText) ?? [];
  const value = (name: string) => new RegExp(`^${name}='?([^'\n]*)`, 'mu').exec(script)?.[1] ?? '';
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: folder });
  const headers = signatureHeaders({
    keys: signingKeysOf(value('SECRET')),
    previousKeys: [],
    deliveryId: 1,
    event: 'license.revoked',
    messageId: value('WEBHOOK_ID'),
    timestampSeconds: Number(value('WEBHOOK_TIMESTAMP')),
    body: value('BODY'),
  });
  expect(stdout.trim().split('\n')).toEqual([
    headers['X-License-Webhook-Signature'],
    headers['webhook-signature'],
  ]);
});

it('the guide lists every event with its own fields, and shows a body', () => {
  const core = Object.keys(sampleEvent('license.activated'));
  for (const name of EVENT_NAMES) {
    const row = guideText.split('\n').find((line) => line.startsWith(`| \`${name}\``));
    const own = Object.keys(sampleEvent(name)).filter((field) => !core.includes(field));
    for (const field of own) expect(row, name).toContain(`\`${field}\``);
    expect(row).toContain(EVENT_TRIGGERS[name]);
  }
  expect(JSON.parse(codeBlock('json'))).toEqual(sampleEvent('license.renewed'));
});
