import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { callRow, newBearer, PATHS, ROWS, SAMPLES } from '../helpers/contract-calls.ts';
import { dumpDatabase, writeRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { httpCall, jsonCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectCommonHeaders, expectFailure, expectSuccess } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';

const server = sharedServer();
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
});

describe.each(ROWS)('%s', (name, row) => {
  it.each([
    ['with', row.path],
    ['without', row.path.slice(0, -1)],
  ])('answers %s the trailing slash, with the declared fields and no others', async (_form, path) => {
    const reply = await callRow(server, row, await SAMPLES[name](server), bearer, path);
    expectSuccess(row, reply);
    expectCommonHeaders(reply.headers);
  });

  it('ignores fields that it does not know', async () => {
    const input = { ...(await SAMPLES[name](server)), unknown_field: 'x', constructor: 'y', toString: 'z' };
    expectSuccess(row, await callRow(server, row, input, bearer));
  });

  it('returns a well-formed request ID, on success and on failure', async () => {
    const headers = { ...bearer, 'x-request-id': 'client:7f.A_b-1' };
    const success = await callRow(server, row, await SAMPLES[name](server), headers);
    expect(success.headers.get('x-request-id')).toBe('client:7f.A_b-1');
    const failure = await server.call('PATCH', row.path, undefined, headers);
    expect([failure.headers.get('x-request-id'), failure.body.request_id]).toEqual([
      'client:7f.A_b-1',
      'client:7f.A_b-1',
    ]);
  });
});

describe.each(PATHS)('%s', (path, methods) => {
  // A HEAD would use up the link.
  const hasHead = methods.includes('GET') && path !== '/certs/download-key/';
  const allowed = new Set(hasHead ? [...methods, 'HEAD'] : methods);

  it('refuses every other method, and lists the supported ones', async () => {
    for (const method of [
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'DELETE',
      'PATCH',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'QUERY',
    ]) {
      if (allowed.has(method)) continue;
      const reply = await httpCall(server.api + path, { method });
      expect([method, reply.status]).toEqual([method, 405]);
      expect(new Set(reply.headers.get('allow')?.split(', '))).toEqual(allowed);
      expectCommonHeaders(reply.headers);
      if (method === 'HEAD') expect(reply.text).toBe('');
      else expectFailure({ status: reply.status, body: JSON.parse(reply.text) }, 'method_not_allowed');
    }
  });

  it('changes nothing on HEAD', async () => {
    const before = await dumpDatabase(server.dataDir);
    for (const query of ['', '?id=1', '?name=trial']) {
      const url = server.api + path + query;
      const reply = await httpCall(url, { method: 'HEAD', headers: bearer });
      const expected = allowed.has('HEAD') ? (await httpCall(url, { headers: bearer })).status : 405;
      expect(reply.status).toBe(expected);
      expect(reply.text).toBe('');
    }
    expect(await dumpDatabase(server.dataDir)).toBe(before);
  });
});

describe('an unknown path', () => {
  it.each([
    ['the root of the API', ''],
    ['the root with its slash', '/'],
    ['an unknown endpoint', '/nothing/'],
    ['something below an endpoint', '/health/deep/er/'],
    ['a doubled slash', '//health/'],
    ['a path that only starts like one', '/healthy/'],
    ['a parent directory', '/%2e%2e/%2e%2e/etc/passwd'],
    ['malformed percent-encoding', '/%E0%A4%A/'],
    ['half a percent', '/health%/'],
    ['a NUL', '/health%00/'],
    ['malformed percent-encoding in the reference', '/docs/%zz'],
    ['a parent directory in the reference', '/docs/%2e%2e%2fpackage.json'],
  ])('is a 404 in the envelope: %s', async (_name, path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const reply = await jsonCall(server.api + path, { method });
      expectFailure(reply, 'not_found');
      expectCommonHeaders(reply.headers);
    }
  });

  it.each([
    '/',
    '/license/',
    '/license/api/',
    '/license/api/svcs/health/',
    '/admin/api/server-info/',
    '/index.html',
  ])('is a 404 outside the API, too: %s', async (path) => {
    expectFailure(await jsonCall(new URL(path, server.api).href), 'not_found');
  });
});

describe('a query', () => {
  it.each([
    '?%',
    '?a=%zz',
    '?=&&=',
    '?__proto__=1&constructor[prototype]=2',
    '?id[]=1&id[a]=2',
    `?${'a=1&'.repeat(2000)}`,
  ])('that makes no sense is no crash: %#', async (query) => {
    expect((await server.get(`/health/${query}`)).status).toBe(200);
    expect((await server.get(`/plans/${query}`, bearer)).status).toBe(200);
    expect((await server.get(`/stats/${query}`, bearer)).status).toBe(200);
  });
});

describe('a request id', () => {
  it.each([
    ['none', undefined],
    ['empty', ''],
    ['too long', 'a'.repeat(129)],
    ['with a blank', 'a b'],
    ['with what breaks a log line', 'a"}'],
    ['not ASCII', 'caf\u00e9'],
    ['with a slash', '../../x'],
  ])('is made anew where the given one is not sane: %s', async (_name, given) => {
    const headers = given === undefined ? {} : { 'x-request-id': given };
    const ids = new Set<string>();
    for (let time = 0; time < 3; time += 1) {
      const reply = await jsonCall(`${server.api}/nothing/`, { headers });
      expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/u);
      expect(reply.body.request_id).toBe(reply.headers.get('x-request-id'));
      ids.add(reply.body.request_id as string);
    }
    expect(ids.size).toBe(3);
  });

  it('is replaced if there are two', async () => {
    const reply = await httpCall(`${server.api}/health/`, { headers: { 'x-request-id': ['one', 'two'] } });
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/u);
  });

  it('is on failures of every kind', async () => {
    const headers = { 'x-request-id': 'mine' };
    const failures = [
      await server.call('PUT', '/renew/', {}, headers),
      await server.post('/renew/', {}, headers),
      await server.post('/authorize/', {}, headers),
      await server.post('/authorize/token/', {}, headers),
      await server.post('/activate/', { x: 'x'.repeat(70_000) }, headers),
      await server.post('/activate/', {}, { ...headers, 'content-type': 'text/plain' }),
    ];
    expect(failures.map(({ status }) => status)).toEqual([405, 401, 400, 400, 413, 415]);
    for (const reply of failures) {
      expect([reply.headers.get('x-request-id'), reply.body.request_id]).toEqual(['mine', 'mine']);
      expectCommonHeaders(reply.headers);
    }
  });
});

describe('the API listener', () => {
  it.each(['evil.example', 'evil.example:80', '', '10.1.2.3:8787', '[::1]', 'a'.repeat(300)])(
    'does not care what Host it is called by: "%s"',
    async (host) => {
      expect((await httpCall(`${server.api}/health/`, { headers: { host } })).status).toBe(200);
    },
  );

  it('answers a foreign Origin the same way without CORS headers', async () => {
    const reply = await httpCall(`${server.api}/health/`, { headers: { origin: 'https://evil.example' } });
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });
});

function logLines(dataDir: string): Record<string, unknown>[] {
  const folder = join(dataDir, 'logs');
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the log', () => {
  it('has one line for each request, under its id, without query, body or credentials', async () => {
    const dataDir = await keptDataDir();
    const own = await startTestServer({ dataDir });
    const headers = await newBearer(own);
    await own.get('/health/?secret=in-the-query', { 'x-request-id': 'log-1' });
    await own.post('/authorize/token/', { token: 'ldt_in-the-body' }, { 'x-request-id': 'log-2' });
    await own.get('/plans/', { ...headers, 'x-request-id': 'log-3' });
    const made = (await own.get('/nothing/')).body.request_id as string;
    await own.stop();

    const lines = logLines(dataDir);
    const lineOf = (id: string) => lines.filter((line) => line['request_id'] === id);
    expect(lineOf('log-1')).toEqual([
      expect.objectContaining({
        method: 'GET',
        path: '/license/api/svc/health/',
        status: 200,
        address: '127.0.0.1',
      }),
    ]);
    expect(lineOf('log-2')).toEqual([expect.objectContaining({ method: 'POST', status: 401 })]);
    expect(lineOf('log-3')).toEqual([expect.objectContaining({ status: 200 })]);
    expect(lineOf(made)).toEqual([expect.objectContaining({ status: 404 })]);
    const everything = JSON.stringify(lines);
    expect(everything).not.toContain('in-the-');
    expect(everything).not.toContain(headers['authorization']!.slice('Bearer '.length));
  });
});

describe('a crash', () => {
  it('is an internal_error without details, which are in the log', async () => {
    const dataDir = await keptDataDir();
    const own = await startTestServer({ dataDir });
    const headers = { ...(await newBearer(own)), 'x-request-id': 'crash-1' };
    await writeRows(dataDir, 'PRAGMA foreign_keys = OFF', 'DROP TABLE deliveries');
    const reply = await own.get('/stats/', headers);
    expectFailure(reply, 'internal_error');
    expectCommonHeaders(reply.headers);
    expect(JSON.stringify(reply.body)).not.toMatch(/SQL|deliveries|\bat /u);
    expect((await own.get('/plans/', headers)).status).toBe(200);
    await own.stop();

    const line = logLines(dataDir).find((entry) => entry['request_id'] === 'crash-1' && 'err' in entry);
    expect(JSON.stringify(line)).toContain('no such table: deliveries');
  });
});
