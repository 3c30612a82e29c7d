import { beforeAll, describe, expect, it } from 'vitest';
import { publicContract } from '#server/contract.ts';
import {
  callRow,
  newBearer,
  newLicense,
  PATHS,
  ROWS,
  type RowName,
  SAMPLES,
} from '../helpers/contract-calls.ts';
import { httpCall, jsonCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectCommonHeaders, expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  enum?: string[];
  description?: string;
  additionalProperties?: Schema | boolean;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

interface Operation {
  operationId: string;
  summary: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    securitySchemes: Record<string, { type: string; scheme: string }>;
  };
}

const server = sharedServer();
let document: Document;

beforeAll(async () => {
  document = (await server.get('/openapi.json')).body as Document;
});

function operationOf(name: RowName): Operation {
  const row = publicContract[name];
  return document.paths[row.path]![row.method.toLowerCase()]!;
}

/** Follows a reference, which has to lead somewhere. */
function resolved(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const target = document.components.schemas[/^#\/components\/schemas\/(\w+)$/u.exec(schema.$ref)?.[1] ?? ''];
  expect(target, schema.$ref).toBeDefined();
  return target!;
}

function schemaOf(operation: Operation, status: string): Schema {
  return resolved(operation.responses[status]!.content!['application/json']!.schema);
}

/** The error codes under a status, each of which its description explains. */
function codesOf(name: RowName, status: string): string[] {
  if (Number(status) < 400) return [];
  const operation = operationOf(name);
  const codes = schemaOf(operation, status).properties!.error_code!.enum!;
  for (const code of codes) expect(operation.responses[status]!.description).toContain(`\`${code}\`: `);
  return codes;
}

describe('openapi.json', () => {
  it('is OpenAPI 3.1, with where it is and how to get in', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/u);
    expect(document.info).toEqual({
      title: 'License Desk',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/u) as string,
      description: expect.stringContaining('error_code') as string,
      contact: { name: 'License Desk', url: `${server.api}/docs/` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    });
    expect(document.servers).toEqual([{ url: server.api, description: 'This server.' }]);
    expect(document.components.securitySchemes).toMatchObject({
      api_token: { type: 'http', scheme: 'bearer' },
    });
  });

  it('has every path and method of the contract, and no others', () => {
    const told = Object.entries(document.paths).map(([path, item]): [string, string[]] => [
      path,
      Object.keys(item).map((method) => method.toUpperCase()),
    ]);
    expect(new Map(told)).toEqual(new Map(PATHS));
  });

  it('names each operation once', () => {
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(ids.toSorted()).toEqual(ROWS.map(([name]) => name).toSorted());
  });

  it('refers to nothing that is not there', () => {
    for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/gu)) {
      const [kind, name] = /^#\/components\/(schemas|headers)\/([\w-]+)$/u.exec(reference!)?.slice(1) ?? [];
      expect(document.components[kind as 'schemas'][name!], reference).toBeDefined();
    }
  });

  it('has the configured base URL', async () => {
    const own = await startTestServer({ flags: { 'base-url': 'https://license.example/desk/' } });
    const { body } = await own.get('/openapi.json');
    expect(body.servers).toMatchObject([{ url: 'https://license.example/desk/license/api/svc' }]);
    await own.stop();
  });

  it('is the same bytes for each call, and 304 to a client that has them', async () => {
    const url = `${server.api}/openapi.json`;
    const first = await httpCall(url);
    expectCommonHeaders(first.headers);
    expect(first.headers.get('content-length')).toBe(String(Buffer.byteLength(first.text)));
    const etag = first.headers.get('etag')!;
    expect(etag).toMatch(/^"[\w-]{43}"$/u);
    expect((await httpCall(url)).headers.get('etag')).toBe(etag);
    const fresh = await httpCall(url, { headers: { 'if-none-match': `"other", W/${etag}` } });
    expect([fresh.status, fresh.text, fresh.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await httpCall(url, { headers: { 'if-none-match': '"other"' } })).text).toBe(first.text);
    const head = await httpCall(url, { method: 'HEAD' });
    for (const name of ['etag', 'content-length', 'content-type'])
      expect(head.headers.get(name)).toBe(first.headers.get(name));
  });

  it('takes GET and HEAD', async () => {
    expect((await httpCall(`${server.api}/openapi.json`, { method: 'HEAD' })).status).toBe(200);
    const reply = await jsonCall(`${server.api}/openapi.json`, { method: 'POST' });
    expectFailure(reply, 'method_not_allowed');
  });
});

describe.each(ROWS)('the operation %s', (name, row) => {
  it('has its summary, its authentication and the request of the contract', () => {
    const operation = operationOf(name);
    expect(operation.summary).toBe(row.summary);
    expect(operation.security).toEqual(row.auth === 'bearer' ? [{ api_token: [] }] : []);
    const inQuery = row.method === 'GET' || row.method === 'DELETE';
    if (inQuery) {
      expect(operation.requestBody === undefined || row.method === 'DELETE').toBe(true);
      for (const parameter of (operation.parameters ?? []).filter(({ in: place }) => place !== 'header')) {
        expect(parameter).toMatchObject({ in: 'query', name: expect.stringMatching(/^[a-z_]+$/u) as string });
        expect(parameter.required ?? false).toBe(parameter.name === 'license' && name === 'leaseUsage');
      }
    } else {
      expect(operation.requestBody).toMatchObject({ required: true });
      expect(Object.keys(operation.requestBody!.content)).toEqual(['application/json']);
    }
    for (const parameter of operation.parameters ?? [])
      if (parameter.name === 'limit') expect(parameter.schema).toMatchObject({ default: 50 });
    const headers = (operation.parameters ?? []).filter((parameter) => parameter.in === 'header');
    expect(headers.map((parameter) => parameter.name)).toEqual([
      ...(row.idempotent ? ['Idempotency-Key'] : []),
      ...(row.etag ? ['If-None-Match'] : []),
    ]);
    if (row.idempotent) expect(headers[0]).toMatchObject({ schema: { pattern: '^[!-~]{1,255}$' } });
  });

  it('describes the actual reply of a success', async () => {
    const schema = schemaOf(operationOf(name), '200');
    const reply = await callRow(server, row, await SAMPLES[name](server), await newBearer(server));
    expect(Object.keys(schema.properties ?? {})).toEqual(
      expect.arrayContaining(Object.keys(reply.body as object)),
    );
    expect(Object.keys(reply.body as object)).toEqual(expect.arrayContaining(schema.required ?? []));
    expect(schema.required).toContain('ok');
  });

  it('describes failures in the envelope under their actual status', () => {
    const { responses } = operationOf(name);
    const failures = Object.keys(responses).filter((status) => Number(status) >= 400);
    for (const status of failures) {
      const schema = schemaOf(operationOf(name), status);
      expect(schema.required?.toSorted()).toEqual(['error_code', 'message', 'ok']);
    }
    const said = failures.flatMap((status) => codesOf(name, status).map((code) => `${status} ${code}`));
    const expected = [
      '400 invalid_request',
      '500 internal_error',
      '503 overloaded',
      ...(row.method === 'GET'
        ? []
        : ['400 invalid_json', '413 payload_too_large', '415 unsupported_media_type']),
      ...(row.auth === 'bearer' ? ['401 unauthorized'] : []),
      ...(row.role === 'admin' ? ['403 forbidden'] : []),
      ...(row.idempotent ? ['409 idempotency_conflict'] : []),
      ...(row.rateLimit === 'none' ? [] : ['429 rate_limited']),
    ];
    expect(said).toEqual(expect.arrayContaining(expected));
  });
});

describe('the documented failures match the actual ones', () => {
  const cases: [RowName, string, () => Promise<Record<string, unknown>>][] = [
    [
      'renew',
      'license_revoked',
      async () => {
        const { license_id, license_key } = await newLicense(server);
        await server.admin.revokeLicense({ ref: license_key });
        return { license_id };
      },
    ],
    [
      'upgrade',
      'license_revoked',
      async () => {
        const { license_id, license_key } = await newLicense(server);
        await server.admin.revokeLicense({ ref: license_key });
        return { license_id, plan: 'enterprise' };
      },
    ],
    [
      'activate',
      'license_revoked',
      async () => {
        const { license_key } = await newLicense(server);
        await server.admin.revokeLicense({ ref: license_key });
        return { license_key, machine_fingerprint: `sha256:${'a'.repeat(64)}` };
      },
    ],
    ['renew', 'license_not_found', async () => ({ license_id: 999_999 })],
    [
      'upgrade',
      'not_an_upgrade',
      async () => ({ license_id: (await newLicense(server)).license_id, plan: 'trial' }),
    ],
    ['createPlan', 'plan_exists', async () => ({ name: 'trial' })],
    ['authorizeToken', 'token_invalid', async () => ({ token: 'x' })],
    ['authorizeToken', 'missing_token', async () => ({})],
  ];
  it.each(cases)('%s: %s', async (name, code, input) => {
    const reply = await callRow(server, publicContract[name], await input(), await newBearer(server));
    expect(reply.body.error_code).toBe(code);
    const told = Object.keys(operationOf(name).responses).filter((status) =>
      codesOf(name, status).includes(code),
    );
    expect(told.map(Number)).toEqual([reply.status]);
  });
});

describe('the longest period', () => {
  it.each([
    ['stats', '/stats/', 3660],
    ['usage of leases', '/leases/usage/', 400],
  ])('of %s is documented', (_what, path, days) => {
    const { parameters = [] } = document.paths[path]!.get!;
    const from = parameters.find(({ name }) => name === 'from');
    expect(from!.schema.description).toMatch(new RegExp(`at most ${days} days before \`to\``, 'iu'));
  });

  it('is part of the error', async () => {
    const reply = await server.get('/stats/?from=1970-01-01T00:00:00Z', await newBearer(server));
    expect(reply.body.message).toBe('from: must not be after to, or more than 3660 days before it');
  });
});

describe('a limit of a license', () => {
  const LIMITS = ['seats', 'overdraft_seats', 'borrow_max_hours', 'borrow_max_count', 'borrow_keep_free'];

  it('is described as the value that null gives it', async () => {
    const bearer = await newBearer(server);
    const { body } = await server.call(
      'POST',
      '/plans/',
      { name: 'two', licensing: 'floating', seats: 2 },
      bearer,
    );
    expect(body).toMatchObject({ ok: true });
    const order = { holder: 'Acme', plan: 'two', seats: null };
    const issued = await server.call('POST', '/licenses/', order, bearer);
    expect(issued.body.license).toMatchObject({ seats: 2 });
    for (const method of ['post', 'put']) {
      const { properties } =
        document.paths['/licenses/']![method]!.requestBody!.content['application/json']!.schema;
      for (const limit of LIMITS)
        expect(properties![limit]!.description, limit).toMatch(/Null takes the value of the plan\.$/u);
    }
  });
});

describe('the reference page', () => {
  const get = (path: string) => httpCall(`${server.api}${path}`);

  it('is HTML under a policy that allows only its own content', async () => {
    const page = await get('/docs/');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy')!;
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ]) {
      expect(policy).toContain(part);
    }
    expect(policy).not.toMatch(/unsafe|\*|http/u);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.has('x-request-id')).toBe(true);
    expect(page.text).not.toMatch(/\son\w+=|<script>|<style|style=/u);
  });

  it('loads everything from its own folder', async () => {
    const { text } = await get('/docs/');
    const links = [...text.matchAll(/(?:src|href)="([^"]+)"/gu)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThanOrEqual(3);
    const types: Record<string, RegExp> = { js: /javascript/u, css: /text\/css/u, png: /image\/png/u };
    for (const link of links) {
      expect(link).toMatch(/^[\w.-]+$/u);
      const file = await get(`/docs/${link}`);
      expect([link, file.status]).toEqual([link, 200]);
      expect(file.headers.get('content-type')).toMatch(types[link.split('.').at(-1)!]!);
      expect(file.headers.get('x-content-type-options')).toBe('nosniff');
      expect(file.headers.has('x-request-id')).toBe(true);
    }
  });

  it('reads the document next to it', async () => {
    const { text } = await get('/docs/start.js');
    const url = /url: '([^']+)'/u.exec(text)?.[1];
    expect(new URL(url!, `${server.api}/docs/`).href).toBe(`${server.api}/openapi.json`);
    expect(text).toContain('validatorUrl: null');
  });

  it('is found without its slash, under its id', async () => {
    const reply = await httpCall(`${server.api}/docs`, { headers: { 'x-request-id': 'mine' } });
    expect([reply.status, new URL(reply.headers.get('location')!, server.api).pathname]).toEqual([
      301,
      '/license/api/svc/docs/',
    ]);
    expect(reply.headers.get('x-request-id')).toBe('mine');
  });

  it('knows no other files', async () => {
    for (const path of [
      '/docs/nothing.js',
      '/docs/../../../package.json',
      '/docs/%2e%2e/main/server.js',
      '/docs/.env',
    ]) {
      expectFailure(await jsonCall(server.api + path), 'not_found');
    }
  });
});

describe('the index page', () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const origin = () => new URL(server.api).origin;

  it.each(['/', '/license/api/svc/'])('at %s links to the documents', async (path) => {
    const url = origin() + path;
    const page = await httpCall(url, { headers: { accept } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.has('x-request-id')).toBe(true);
    expect(page.text).not.toMatch(/\son\w+=|<script|<style|style=/u);
    expect(page.text.length).toBeLessThan(2000);
    const links = [...page.text.matchAll(/href="([^"]+)"/gu)].map(([, link]) => new URL(link!, url).href);
    expect(links.map((link) => link.slice(server.api.length))).toEqual([
      '/docs/favicon-32x32.png',
      '/docs/',
      '/openapi.json',
      '/health/',
      '/public-key/',
      '/certs/crl/',
    ]);
    for (const link of links) expect((await httpCall(link)).status, link).toBe(200);
  });

  it('is found without the slash of the API root', async () => {
    const reply = await httpCall(server.api, { headers: { accept } });
    expect(reply.status).toBe(301);
    expect(new URL(reply.headers.get('location')!, server.api).href).toBe(`${server.api}/`);
  });

  it('is not a reply to clients', async () => {
    for (const url of [`${origin()}/`, server.api, `${server.api}/`])
      expectFailure(await jsonCall(url, { headers: { accept: 'application/json' } }), 'not_found');
  });
});
