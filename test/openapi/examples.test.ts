// Every documented example is sent to a real server, and every reply is what the document says, to the field.
import { beforeAll, describe, expect, it } from 'vitest';
import { newBearer, newFingerprint, newFloatingLicense, newLease } from '../helpers/contract-calls.ts';
import { checkOut } from '../helpers/leases.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import type { Reply } from '../helpers/test-server.ts';
import { type OpenApi, type Operation, operationsOf, readDocument, strictValidator } from './document.ts';

const server = sharedServer();
let document: OpenApi;
let bearer: Record<string, string>;
let operations: Map<string, [method: string, path: string, operation: Operation]>;
/** What this server issued in place of the keys and secrets in the examples. */
const live: Record<string, unknown> = {};

beforeAll(async () => {
  document = await readDocument(server);
  bearer = await newBearer(server);
  operations = new Map(operationsOf(document).map(([name, ...rest]) => [name, rest]));
});

function exampleRequest(operation: Operation): Record<string, unknown> {
  const body = operation.requestBody?.content['application/json']?.example as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(body ?? {}).map(([field, value]) => [field, live[field] ?? value]),
  );
}

/** The examples of a GET are those of its parameters. */
function exampleQuery(operation: Operation): string {
  const query = new URLSearchParams();
  for (const { name, in: place, schema, ...rest } of operation.parameters ?? []) {
    const { example } = rest as { example?: unknown };
    if (place === 'query' && example !== undefined) query.set(name, String(live[name] ?? example));
  }
  return query.size === 0 ? '' : `?${query}`;
}

/** Sends the example of an operation, and gives back the reply, which is checked against the document. */
async function send(name: string): Promise<Reply> {
  const [method, path, operation] = operations.get(name)!;
  const reply = await (method === 'GET'
    ? server.get(path + exampleQuery(operation), bearer)
    : server.call(method, path, exampleRequest(operation), bearer));
  expect(reply.status, `${name}: ${JSON.stringify(reply.body)}`).toBe(200);
  expectDocumented(name, reply);
  operations.delete(name);
  return reply;
}

function expectDocumented(name: string, { status, body, headers }: Reply): void {
  const response = operations.get(name)![2].responses[String(status)]!;
  const validate = strictValidator(document, response.content!['application/json']!.schema);
  expect(validate(body), `${name}: ${JSON.stringify(validate.errors)} ${JSON.stringify(body)}`).toBe(true);
  const documented = Object.keys(response.headers ?? {}).map((header) => header.toLowerCase());
  expect(documented).toContain('x-request-id');
  for (const header of ['etag', 'retry-after', 'www-authenticate', 'ratelimit-limit'])
    if (headers.has(header)) expect(documented).toContain(header);
}

async function sendLeaseExamples(): Promise<void> {
  const license = await newFloatingLicense(server, { seats: 10, features: ['reports'] });
  live.license_key = license.license_key;
  live.license = license.license_key;
  live.lease_token = (await send('checkoutLease')).body.lease_token;
  await send('heartbeatLeases');
  live.lease_file = (await send('borrowLease')).body.lease_file;
  for (const name of [
    'returnLease',
    'releaseLease',
    'listLeases',
    'listLeasePools',
    'leaseUsage',
    'listLeaseDenials',
  ])
    await send(name);
  live.lease_id = (await newLease(server, license)).lease.lease_id;
  await send('reclaimLease');
}

async function sendLeaseRuleExamples(): Promise<void> {
  await send('createLeaseGroup');
  live.id = (await send('createLeaseRule')).body.rule.id;
  for (const name of [
    'listLeaseGroups',
    'listLeaseRules',
    'updateLeaseRule',
    'tryLeaseRules',
    'importLeaseRules',
    'deleteLeaseRule',
    'updateLeaseGroup',
    'deleteLeaseGroup',
  ])
    await send(name);
  delete live.id;
}

describe('the example of', () => {
  it('every operation is accepted, and its reply is as documented', async () => {
    const { license } = (await send('createLicense')).body;
    live.license_key = license.license_key;
    for (const name of ['listLicenses', 'updateLicense']) await send(name);
    live.license_file = (await send('activate')).body.license_file;
    for (const name of ['showLicense', 'authorize', 'validateOffline']) await send(name);
    live.token = (await server.admin.issueToken({ license: license.license_key })).token;
    for (const name of ['authorizeToken', 'renew', 'upgrade', 'releaseDevice']) await send(name);
    for (const name of ['createPlan', 'listPlans', 'updatePlan', 'deletePlan']) await send(name);
    live.url = 'https://127.0.0.1:1/hooks';
    for (const name of ['registerWebhook', 'listWebhooks', 'deleteWebhook']) await send(name);
    const { certificate, download_token } = (await send('generateCertificate')).body;
    live.serial_number = certificate.serial_number;
    live.token = download_token;
    for (const name of ['downloadKey', 'validateCertificate', 'revokeCertificate', 'revocationList'])
      await send(name);
    await sendLeaseExamples();
    await sendLeaseRuleExamples();
    live.license_key = license.license_key;
    for (const name of ['revokeLicense', 'health', 'healthLive', 'healthReady', 'publicKey', 'stats'])
      await send(name);
    expect([...operations.keys()]).toEqual([]);
  });
});

describe('every documented reply', () => {
  it('fits its own schema', () => {
    for (const [name, , , operation] of operationsOf(document)) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const json = content?.['application/json'];
        if (!json) continue;
        const place = `${name} ${status}, in server/wiring/api-docs-examples.ts`;
        expect(json.example, place).toBeDefined();
        const validate = strictValidator(document, json.schema);
        expect(validate(json.example), `${place}: ${JSON.stringify(validate.errors)}`).toBe(true);
      }
    }
  });

  it('may gain fields in later versions', () => {
    expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
  });
});

it('a failure is documented under its status with its code', async () => {
  operations = new Map(operationsOf(document).map(([name, ...rest]) => [name, rest]));
  const license = await newFloatingLicense(server, { seats: 1, borrow_max_hours: 0 });
  const { lease_token } = await newLease(server, license);
  const machine_fingerprint = newFingerprint();
  const failures: [string, Promise<Reply>][] = [
    ['renew', server.post('/renew/', { license_id: 999_999 }, bearer)],
    ['renew', server.post('/renew/', {}, bearer)],
    ['renew', server.post('/renew/', {})],
    ['authorizeToken', server.post('/authorize/token/', { token: null })],
    ['authorizeToken', server.post('/authorize/token/', { token: 'x' })],
    ['createPlan', server.post('/plans/', { name: 'trial' }, bearer)],
    ['createLicense', server.post('/licenses/', { holder: 'x', plan: 'none' }, bearer)],
    ['deleteWebhook', server.call('DELETE', '/webhooks/', { id: 999 }, bearer)],
    [
      'registerWebhook',
      server.post('/webhooks/register/', { url: 'http://x.example', scope: 'all' }, bearer),
    ],
    ['checkoutLease', checkOut(server, license)],
    ['borrowLease', server.post('/leases/borrow/', { lease_token, hours: 1, machine_fingerprint })],
  ];
  for (const [name, sent] of failures) {
    const reply = await sent;
    expect(reply.body.ok).toBe(false);
    expectDocumented(name, reply);
  }
});

describe('fields that are given one or the other', () => {
  const bodyOf = (name: string) =>
    operationsOf(document).find(([id]) => id === name)![3].requestBody!.content['application/json']!.schema;

  it.each([
    ['renew', { days: 1 }, false],
    ['renew', { license_id: 1 }, true],
    ['renew', { license_key: 'x' }, true],
    ['updatePlan', { tier: 1 }, false],
    ['revokeCertificate', { reason: 'superseded' }, false],
    ['validateCertificate', {}, false],
    ['generateCertificate', { common_name: 'x' }, false],
  ])('%s takes %j: %s', (name, request, valid) => {
    expect(strictValidator(document, bodyOf(name))(request)).toBe(valid);
  });
});
