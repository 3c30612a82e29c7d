// Requests that are wrong as HTTP: whatever comes in, the listeners answer in the envelope and stay up.
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_API_ROOT, adminContract, PUBLIC_API_ROOT, publicContract } from '#server/contract.ts';
import type { Contract } from '#server/wire/endpoint.ts';
import { ERROR_STATUS } from '#server/wire/errors.ts';
import { untilFirstCrl } from '../helpers/crl.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { exchangeBytes } from '../helpers/raw-http.ts';
import { rawClient, type RawClient, type RawReply, type RawRequest } from '../helpers/raw-request.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

/** Of each listener. */
const RUNS = roundsOr(500);
let server: TestServer;
let api: RawClient;
let admin: RawClient;
let bearer: string;

beforeAll(async () => {
  server = await startTestServer();
  api = rawClient(server.api);
  admin = rawClient(server.adminOrigin);
  bearer = `Bearer ${(await server.admin.createApiToken({ name: 'Fuzz', role: 'admin' })).api_token}`;
  await untilFirstCrl(server);
});
afterAll(async () => {
  api.close();
  admin.close();
  await server.stop();
});

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
  'QUERY',
];

const pathsOf = (root: string, rows: object) =>
  Object.values(rows as Record<string, { path: string }>).map((row) => root + row.path);
const PATHS = {
  api: [
    ...pathsOf(PUBLIC_API_ROOT, publicContract),
    `${PUBLIC_API_ROOT}/openapi.json`,
    `${PUBLIC_API_ROOT}/docs/`,
  ],
  admin: [...pathsOf(ADMIN_API_ROOT, adminContract), '/', '/index.html', '/assets/', '/favicon.svg'],
};

const STRANGE_PATHS = [
  '/',
  '*',
  '//',
  '/%',
  '/%00',
  '/%ff',
  '/..%2f..%2fpackage.json',
  '/../../etc/passwd',
  '/.env',
  '/assets',
  '/assets/..%5c..%5cmain',
  '//evil.example/%2e%2e',
  'http://evil.example/',
  '/\\evil.example',
  `/${'a/'.repeat(2000)}`,
  '/license/api/svc',
  '/license/api/svc/docs',
  '/license/api/svc/docs/swagger-ui.css',
  '/license/api/svc/docs/%2e%2e/%2e%2e/main/cli.js',
  '/LICENSE/API/SVC/HEALTH/',
];

/** Paths of the contract as they are, and a little off. */
function pathTo(paths: string[]): fc.Arbitrary<string> {
  const known = fc.constantFrom(...paths);
  const off = fc
    .tuple(known, fc.constantFrom('x', '/x', '%00', '%2f', '//', '?', '?a=%', '/..', ';a=b', '%', '#x'))
    .map(([path, end]) => path + end);
  const bare = known.map((path) => path.replace(/\/$/u, ''));
  const any = fc.webPath().map((path) => `/${path}`.replace(/^\/+/u, '/'));
  return fc.oneof(
    { weight: 5, arbitrary: known },
    { weight: 2, arbitrary: bare },
    { weight: 3, arbitrary: off },
    { weight: 2, arbitrary: fc.constantFrom(...STRANGE_PATHS) },
    { weight: 1, arbitrary: any },
  );
}

const VALUES: Record<string, string[]> = {
  'content-type': [
    'application/json',
    'application/json; charset=utf-16',
    'application/json; charset=x-none',
    'application/json; charset="',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'text/csv',
    '/',
    ';',
  ],
  'content-encoding': ['gzip', 'br', 'deflate', 'zstd', 'identity', 'gzip, gzip', 'nonsense'],
  authorization: [
    'Bearer',
    'Bearer ',
    'Bearer x',
    'Bearer  ldk_x',
    'Basic eDp5',
    'ldk_x',
    'Bearer ldk_\u00ff',
  ],
  'idempotency-key': ['', 'a', 'a b', 'k'.repeat(256), '\u00ff'],
  'x-request-id': ['', 'a b', 'x'.repeat(129), '"', '\u00ff', '${jndi:ldap://x}', 'fine-1'],
  'x-license-desk-user': ['%', '%00', '%ff', 'u'.repeat(100), '\u00ff'],
  'x-forwarded-for': ['', 'x', '::1', '1.2.3.4, 5.6.7.8', '999.1.1.1'],
  cookie: ['license_desk_session=', 'license_desk_session=x', '=', ';;;=;', 'a'],
  origin: ['null', 'http://evil.example', 'http://127.0.0.1'],
  host: ['evil.example', '', 'localhost', '[::1]', '127.0.0.1:99999', '@'],
  range: ['bytes=999999-', 'bytes=0-0', 'bytes=-', 'x'],
  'if-match': ['"x"', '*'],
  'if-none-match': ['*', 'W/"x"'],
  'if-modified-since': ['x', 'Fri, 01 Jan 2100 00:00:00 GMT'],
  'if-unmodified-since': ['Thu, 01 Jan 1970 00:00:00 GMT'],
  accept: ['', 'text/html', 'application/x-pem-file', '*/*;q=x'],
  'accept-encoding': ['gzip', '*;q=0', 'identity;q=0'],
  'sec-fetch-site': ['cross-site', 'none'],
  'transfer-encoding': ['chunked'],
  expect: ['100-continue', 'the-unexpected'],
  upgrade: ['websocket', 'h2c'],
  connection: ['close', 'upgrade', 'keep-alive, x'],
};

const header = fc
  .constantFrom(...Object.keys(VALUES))
  .chain((name) => fc.constantFrom(...(VALUES[name] as string[])).map((value) => [name, value] as const));

const body = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(
    '{}',
    '{',
    '',
    '""',
    '[]',
    'null',
    'a=b',
    '\u00ff\u00fe',
    '{"token":"x"}',
    'x'.repeat(70_000),
  ),
  fc.uint8Array({ maxLength: 100 }),
);

function requestTo(listener: 'api' | 'admin'): fc.Arbitrary<RawRequest> {
  return fc
    .tuple(fc.constantFrom(...METHODS), pathTo(PATHS[listener]), fc.array(header, { maxLength: 4 }), body)
    .map(([method, path, headers, content]) => ({
      method,
      path,
      headers: Object.fromEntries(headers),
      ...(content === undefined ? {} : { body: content }),
    }));
}

/** The endpoints that can return a document instead of JSON. */
function documentRowsOf(root: string, rows: Contract) {
  return Object.values(rows).flatMap(({ method, path, documents }) => {
    if (!documents) return [];
    const bare = (root + path).replace(/\/$/u, '').replaceAll('.', '\\.').replaceAll(/:\w+/gu, '[^/?#]+');
    return [
      {
        method,
        path: root + path,
        pattern: new RegExp(`^${bare}/?(?:[?#]|$)`, 'iu'),
        types: Object.keys(documents),
      },
    ];
  });
}
const DOCUMENT_ROWS = {
  api: documentRowsOf(PUBLIC_API_ROOT, publicContract),
  admin: documentRowsOf(ADMIN_API_ROOT, adminContract),
};

/** Whether the reply is a document that the endpoint of this path declares. */
function isDocument(path: string, type: string): boolean {
  const [mediaType = ''] = type.split(';');
  return Object.values(DOCUMENT_ROWS)
    .flat()
    .some(({ pattern, types }) => pattern.test(path) && types.includes(mediaType));
}

const ONLY_DATABASE_FAILING = { database: 'failing', storage: 'ok', clock: 'ok', draining: 'ok' };

/** The contract's section 8: the server's write for the check has taken longer than two seconds. */
function isNotReady({ method, path }: RawRequest, { status, text: content }: RawReply): boolean {
  if (status !== 503 || !/^\/license\/api\/svc\/health\/ready\/?(?:\?|$)/u.test(path)) return false;
  if (method === 'HEAD') return content === '';
  const { error_code: code, checks } = JSON.parse(content) as { error_code: string; checks: object };
  return code === 'unavailable' && isDeepStrictEqual(checks, ONLY_DATABASE_FAILING);
}

/** What is wrong with a reply to anything at all; null if nothing is. */
function faultOf(request: RawRequest, reply: RawReply): string | null {
  const { method, path } = request;
  const { status, headers, text: content } = reply;
  if (status >= 500 && !isNotReady(request, reply)) return `${status}: ${content}`;
  if (headers['x-request-id'] === undefined && status >= 400) return `${status} without X-Request-Id`;
  const type = String(headers['content-type'] ?? '');
  if (status === 200 && isDocument(path, type)) return null;
  // Pages and their files, whole or not modified, and the way to them.
  if (status < 400 && !type.startsWith('application/json')) {
    return /^\/(?:admin\/api|license\/api\/svc\/(?!docs))/u.test(path) && status !== 304
      ? `${status} ${type}`
      : null;
  }
  if (method === 'HEAD') return content === '' ? null : 'a body for HEAD';
  if (!type.startsWith('application/json')) return `${status} ${type}: ${content}`;
  if (status < 400) return null;
  const failure = JSON.parse(content) as { ok?: unknown; error_code?: string; message?: unknown };
  const isEnvelope = failure.ok === false && typeof failure.message === 'string';
  if (!isEnvelope || !((failure.error_code ?? '') in ERROR_STATUS)) return `no envelope: ${content}`;
  return status === 405 && !headers['allow'] ? '405 without Allow' : null;
}

describe.each(['api', 'admin'] as const)('the %s listener', (listener) => {
  it('answers any method, path, header and body in the envelope', async () => {
    const client = listener === 'api' ? api : admin;
    const credentials = listener === 'api' ? bearer : `Bearer ${server.runtimeSecret}`;
    const documents = DOCUMENT_ROWS[listener].map(({ method, path }): [RawRequest, boolean] => [
      { method, path },
      true,
    ]);
    await fc.assert(
      fc.asyncProperty(requestTo(listener), fc.boolean(), async (request, isKnown) => {
        const headers = isKnown ? { authorization: credentials, ...request.headers } : { ...request.headers };
        const sent = { ...request, headers };
        const reply = await client.send(sent);
        const fault = faultOf(request, reply);
        expect(fault, `${JSON.stringify(sent)}\ngets ${JSON.stringify(reply)}`).toBe(null);
      }),
      // With the seed: what comes of a request may depend on those before it.
      { numRuns: documents.length + RUNS, includeErrorInReport: true, examples: documents },
    );
    expect((await server.get('/health/')).status).toBe(200);
  });

  it('survives what is no HTTP', async () => {
    const address = listener === 'api' ? server.api : server.adminOrigin;
    const start = fc.constantFrom(
      '',
      'GET / HTTP/1.1\r\n',
      'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n',
      'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n',
      'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
      'GET / HTTP/0.9\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`,
      `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(3000)}\r\n`,
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    );
    const bytes = fc.tuple(start, fc.uint8Array({ maxLength: 200 }));
    await fc.assert(
      fc.asyncProperty(bytes, async ([beginning, rest]) => {
        const answer = await exchangeBytes(
          address,
          Buffer.concat([Buffer.from(beginning, 'latin1'), rest]),
          true,
        );
        // Closing the connection without a word is an answer, too.
        expect(answer).toMatch(/^(?:HTTP\/1\.1 [234]\d\d [^]*)?$/u);
      }),
      { numRuns: 200 },
    );
    expect((await server.get('/health/')).status).toBe(200);
  });
});
