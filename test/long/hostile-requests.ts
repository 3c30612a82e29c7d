// Requests to every public endpoint, from valid to absurd, as bytes that can be sent thousands of times a second.
import * as fc from 'fast-check';
import type { z } from 'zod';
import { PUBLIC_API_ROOT, publicContract } from '#server/contract.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';
import { type GoodValues, jsonRequest, queryRequest } from '../helpers/nasty-json.ts';
import { fingerprintOf } from '../helpers/test-server.ts';
import type { ServerProcess } from '../helpers/server-process.ts';
import type { Random } from './random.ts';

/** A request as it goes over the wire. */
export interface Wire {
  bytes: string;
  /** The reply has no body. */
  isHead: boolean;
}

export interface RequestSource {
  next(random: Random): Wire;
}

/** Requests drawn for each endpoint; each is sent many times, in other company and with other damage. */
const SAMPLES = 400;
const LONGEST_BODY = 16_384;

/** How often an endpoint is called, where it is not 10: a reply of these costs the server many times the usual. */
const WEIGHTS: Partial<Record<keyof typeof publicContract, number>> = {
  authorizeToken: 60,
  authorize: 30,
  health: 5,
  activate: 4,
  renew: 2,
  upgrade: 2,
  createPlan: 1,
  stats: 1,
  registerWebhook: 1,
  generateCertificate: 1,
};

const METHODS = ['HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const PATHS = [
  '/',
  '//',
  '/%',
  '/%00',
  '/..%2f..%2fpackage.json',
  '/../../etc/passwd',
  '/.env',
  'http://evil.example/',
  `/${'a/'.repeat(500)}`,
  `${PUBLIC_API_ROOT}/docs/`,
  `${PUBLIC_API_ROOT}/openapi.json`,
  `${PUBLIC_API_ROOT}/docs/%2e%2e/%2e%2e/main/cli.js`,
  PUBLIC_API_ROOT.toUpperCase(),
];
const ODD_HEADERS = [
  'Content-Type: text/plain',
  'Content-Type: application/json; charset=utf-16',
  'Content-Encoding: gzip',
  'Authorization: Bearer',
  'Authorization: Basic eDp5',
  'Authorization: Bearer ldk_x',
  'Idempotency-Key: ',
  `Idempotency-Key: ${'k'.repeat(256)}`,
  'X-Request-Id: ${jndi:ldap://x}',
  `X-Request-Id: ${'x'.repeat(129)}`,
  'X-Forwarded-For: 999.1.1.1',
  'Accept: application/x-pem-file',
  'Accept-Encoding: *;q=0',
  'If-None-Match: *',
  'Range: bytes=999999-',
  'Expect: 100-continue',
  'Origin: null',
  `X-Long: ${'y'.repeat(2000)}`,
];

async function goodValues({ admin, post }: ServerProcess): Promise<GoodValues> {
  const { plan } = await admin.createPlan({ name: 'hostile', tier: 5, max_activations: null });
  const { license } = await admin.createLicense({ holder: 'Hostile', plan: plan.name });
  const revoked = await admin.createLicense({ holder: 'Revoked' });
  await admin.revokeLicense({ ref: revoked.license.license_key });
  const { token } = await admin.issueToken({ license: license.license_key });
  const machine_fingerprint = fingerprintOf(1);
  const device = { license_key: license.license_key, machine_fingerprint };
  const { body } = await post('/activate/', device);
  const { certificate } = await admin.generateCertificate({
    license_id: license.license_id,
    common_name: 'hostile',
  });
  const moments = ['2027-01-01T00:00:00Z', '2020-01-01T00:00:00+02:00', '9988-12-30T00:00:00Z'];
  return {
    token: [token, 'ldt_unknown'],
    product_slug: ['my-product', 'other', 'constructor'],
    product: ['my-product', 'constructor', null],
    license_key: [license.license_key, license.license_key.toLowerCase(), revoked.license.license_key],
    license_id: [license.license_id, revoked.license.license_id],
    machine_fingerprint: Array.from({ length: 50 }, (_, number) => fingerprintOf(number)),
    license_file: [body.license_file],
    certificate: [certificate.pem],
    serial_number: [certificate.serial_number],
    plan: [plan.name, 'enterprise', 'constructor'],
    name: [plan.name, 'constructor'],
    id: [plan.id, 1],
    // Whatever else is asked for is a certificate for no license, and no RSA key is made for it.
    common_name: [''],
    url: ['https://127.0.0.1:1/', 'http://127.0.0.1/', 'https://[::1]/', 'https://169.254.169.254/'],
    scope: ['all', 'license.activated'],
    expires_at: moments,
    from: moments,
    to: moments,
    days: [1, 36_500],
    features: [['imaging'], ['constructor']],
    encrypt: [true, false],
    archived: [true, false],
    tier: [0, 6],
    duration_days: [1, 36_500],
    grace_days: [0, 3650],
    max_activations: [1, null],
    feature: ['imaging', 'constructor'],
    format: ['der', 'pem', 'json'],
  };
}

interface Template {
  method: string;
  path: string;
  body: string | undefined;
  isBearer: boolean;
}

function templatesOf(row: Endpoint, good: GoodValues, seed: number): Template[] {
  const fields = Object.keys((row.request as unknown as z.ZodObject).shape);
  const values = Object.fromEntries(fields.map((name) => [name, good[name] ?? ['Any text']]));
  const path = PUBLIC_API_ROOT + row.path;
  const isBearer = row.auth === 'bearer';
  const { method } = row;
  const withQuery = queryRequest(values)
    .filter((query) => !/[\s\u007f-\uffff]/u.test(query))
    .map((query): Template => ({
      method,
      path: query === '' ? path : `${path}?${query}`,
      body: undefined,
      isBearer,
    }));
  const withBody = jsonRequest(values)
    .filter((body) => body.length < LONGEST_BODY)
    .map((body): Template => ({ method, path, body, isBearer }));
  const any = method === 'GET' ? withQuery : method === 'DELETE' ? fc.oneof(withQuery, withBody) : withBody;
  return fc.sample(any, { seed, numRuns: SAMPLES });
}

/** Changes a few bytes of the text. */
function damaged(text: string, random: Random): string {
  const at = random.integer(text.length + 1);
  return (
    text.slice(0, at) +
    random.pick(['', 'x', '"', '\\', ',', '}', '\0', '-1', '\u00ff']) +
    text.slice(at + random.integer(4))
  );
}

/** Prepares the requests of a run. The same seed gives the same ones, but for keys that the server makes. */
export async function createRequestSource(
  server: ServerProcess,
  bearer: string,
  seed: number,
): Promise<RequestSource> {
  const good = await goodValues(server);
  const rows = Object.entries(publicContract as Record<string, Endpoint>).map(([name, row]) => ({
    templates: templatesOf(row, good, seed),
    weight: WEIGHTS[name as keyof typeof publicContract] ?? 10,
  }));
  const wheel = rows.flatMap((row) => Array<typeof row>(row.weight).fill(row));
  return {
    next(random) {
      const template = random.pick(random.pick(wheel).templates);
      const isOdd = random.chance(0.03);
      const method = isOdd && random.chance(0.5) ? random.pick(METHODS) : template.method;
      const path = isOdd && random.chance(0.5) ? random.pick(PATHS) : template.path;
      const headers = ['Host: desk'];
      if (template.isBearer && random.chance(0.7)) headers.push(`Authorization: Bearer ${bearer}`);
      if (isOdd) headers.push(random.pick(ODD_HEADERS));
      const body =
        template.body !== undefined && random.chance(0.3) ? damaged(template.body, random) : template.body;
      if (body !== undefined) {
        headers.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
      }
      return {
        bytes: `${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body ?? ''}`,
        isHead: method === 'HEAD',
      };
    },
  };
}
