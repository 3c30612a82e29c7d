// Replies that are made while they are sent, and files that come in, over a real connection.
import { once } from 'node:events';
import { createServer, get, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express from 'express';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PUBLIC_ACTOR } from '#server/platform/call.ts';
import { Document, type DocumentParts } from '#server/platform/document.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { errorHandler } from '#server/platform/error-handler.ts';
import { ApiError } from '#server/wire/errors.ts';
import { uploadedFile } from '#server/wire/fields.ts';
import { mount } from '#server/platform/mount.ts';
import { requestId } from '#server/platform/request-id.ts';
import { implement } from '#server/platform/route.ts';
import { jsonCall } from '../helpers/raw-http.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const PART = 'x'.repeat(65_536);
const logged: { level: number; msg?: string }[] = [];
/** What the next reply is made of, and what became of it. */
let makeParts: () => DocumentParts;
let length: number | undefined;
let made = 0;
let closed: Promise<void>;
let server: Server;
let origin: string;

/** @param count how many; without end if it is not given */
async function* parts(count = Infinity, failure?: Error): AsyncGenerator<string> {
  let end = () => {};
  closed = new Promise((resolve) => {
    end = resolve;
  });
  try {
    for (made = 0; made < count; made += 1) yield PART;
    if (failure) throw failure;
  } finally {
    end();
  }
}

const rows = {
  download: endpoint({
    method: 'GET',
    path: '/download/',
    auth: 'public',
    summary: '',
    request: z.object({}),
    reply: z.object({}),
    errors: [],
  }),
  upload: endpoint({
    method: 'POST',
    path: '/upload/',
    auth: 'public',
    summary: '',
    request: z.object({ file: uploadedFile, name: z.string().optional() }),
    reply: z.object({ bytes: z.int(), name: z.string().nullable() }),
    errors: [],
    upload: { contentType: 'text/csv', maxBytes: 1_048_576 },
  }),
};

beforeAll(async () => {
  const routes = implement(rows, {
    download: () =>
      new Document('text/csv', makeParts(), { fileName: 'all.csv', ...(length ? { length } : {}) }),
    async upload({ file, name = null }) {
      let bytes = 0;
      for await (const piece of file) bytes += piece.length;
      return { bytes, name };
    },
  });
  const logger = pino({ level: 'error' }, { write: (line) => logged.push(JSON.parse(line)) });
  const app = express();
  app.use(requestId(logger, () => undefined));
  app.use(mount('', routes, { authenticate: () => PUBLIC_ACTOR }));
  app.use(errorHandler(logger));
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  logged.length = 0;
  length = undefined;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

async function download(method = 'GET'): Promise<IncomingMessage> {
  const outgoing = request(`${origin}/download/`, { method, agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

describe('a document in parts', () => {
  it('comes whole, as a file to be saved', async () => {
    makeParts = () => parts(100);
    const response = await download();
    expect(response.headers).toMatchObject({
      'content-type': 'text/csv',
      'content-disposition': 'attachment; filename="all.csv"',
      'transfer-encoding': 'chunked',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect((await text(response)).length).toBe(100 * PART.length);
  });

  it('has a Content-Length if it is known', async () => {
    makeParts = () => parts(2);
    length = 2 * PART.length;
    const response = await download();
    expect(response.headers['content-length']).toBe(String(length));
    expect((await text(response)).length).toBe(length);
  });

  it('is not made faster than it is taken', async () => {
    makeParts = () => parts();
    const response = await download();
    response.pause();
    let before = -1;
    // What the buffers on the way hold is made, and then no more.
    await expect
      .poll(() => {
        const isStill = made === before;
        before = made;
        return isStill;
      })
      .toBe(true);
    expect(made * PART.length).toBeLessThan(100_000_000);
    response.destroy();
    await closed;
  });

  it('is given up when the caller goes away, and that is no failure', async () => {
    makeParts = () => parts();
    const response = await download();
    await once(response, 'readable');
    response.destroy();
    await closed;
    expect(logged).toEqual([]);
  });

  it('is cut off by a failure midway, so that it does not look complete', async () => {
    makeParts = () => parts(20, new Error('the disk is gone'));
    const response = await download();
    await expect(text(response)).rejects.toThrow('aborted');
    expect(response.complete).toBe(false);
    expect(logged.filter(({ level }) => level === 50)).toHaveLength(1);
  });

  it('reports a failure before its first part in the envelope', async () => {
    makeParts = () => parts(0, new ApiError('unavailable', 'not now'));
    expectFailure(await jsonCall(`${origin}/download/`), 'unavailable');
  });

  it('is not made for HEAD', async () => {
    makeParts = () => parts();
    const response = await download('HEAD');
    await closed;
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-disposition']).toContain('all.csv');
    expect(made).toBeLessThanOrEqual(1);
  });
});

describe('an uploaded file', () => {
  const csv = { 'content-type': 'text/csv' };
  const upload = (body: string | Buffer, headers: Record<string, string> = csv) =>
    jsonCall(`${origin}/upload/?name=a%20name`, { method: 'POST', body, headers });

  it('may be larger than any other body, and has its other fields in the query', async () => {
    const { body } = await upload('x'.repeat(1_048_576));
    expect(body).toEqual({ ok: true, bytes: 1_048_576, name: 'a name' });
  });

  it.each([
    csv,
    { 'content-type': 'TEXT/CSV; charset=UTF-8' },
    { 'content-type': 'text/csv;charset="utf-8"' },
  ])('is taken as %j', async (headers) => {
    expect((await upload('abc', headers)).body).toMatchObject({ bytes: 3 });
  });

  it('is refused beyond its limit, with and without Content-Length', async () => {
    const tooLong = 'x'.repeat(1_048_577);
    expectFailure(await upload(tooLong), 'payload_too_large');
    const chunked = await upload(tooLong, { ...csv, 'transfer-encoding': 'chunked' });
    expectFailure(chunked, 'payload_too_large');
    expect(chunked.body.message).toBe('the file is larger than 1 MB');
  });

  it.each([
    {},
    { 'content-type': 'application/json' },
    { 'content-type': 'text/csv; charset=utf-16' },
    { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
    { 'content-type': 'text/csvx' },
  ])('is refused as %j', async (headers) => {
    expectFailure(await upload('abc', headers), 'unsupported_media_type');
  });

  it('that is cut off is not taken for a whole one', async () => {
    const outgoing = request(`${origin}/upload/`, { method: 'POST', headers: csv, agent: false });
    outgoing.on('error', () => {});
    const [incoming] = await Promise.all([
      once(server, 'request') as Promise<[IncomingMessage]>,
      new Promise((sent) => outgoing.write('abc', sent)),
    ]);
    const gone = new Promise((resolve) => incoming[0].once('close', resolve));
    outgoing.destroy();
    await gone;
    expect(logged).toEqual([]);
    await once(get(`${origin}/nothing/`), 'response');
  });
});
