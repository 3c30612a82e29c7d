// Commands whose server carries a call out, while the reply is lost.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  request as requestTo,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ImportStatus } from '#server/features/license-transfer/license-transfer-contract.ts';
import type { BulkReply } from '#server/features/licenses/license-contract.ts';
import type { FailureEnvelope } from '#server/wire/errors.ts';
import { readRuntimeFile, writeRuntimeFile } from '#server/installation/runtime-file.ts';
import { cliOn, runCli } from '../helpers/cli.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

let dataDir: string;
let server: ServerProcess;
let proxy: Server;
/** Whether the reply to a call is lost. */
let isLost: (path: string) => boolean;
/** Whether nothing answers any more. */
let isGone: boolean;
/** Whether the database's answer to the commit of a license is lost. */
let isCommitLost: (id: number) => boolean;

beforeEach(async () => {
  dataDir = temporaryDirectory();
  server = await startServerProcess({ dataDir });
  isLost = () => false;
  isGone = false;
  isCommitLost = () => false;
  proxy = createServer((request, response) => {
    if (isGone) return response.destroy();
    const { method, url = '', headers } = request;
    const sent = requestTo(server.adminOrigin + url, { method, headers }, (reply) => {
      if (isLost(url)) return response.destroy();
      if (url.includes('/licenses/bulk/')) return void sendBulkReply(reply, response);
      response.writeHead(reply.statusCode!, reply.headers);
      return reply.pipe(response);
    });
    return request.pipe(sent);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const admin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  writeRuntimeFile(dataDir, { ...readRuntimeFile(dataDir)!, admin });
});
afterEach(async () => {
  proxy.close();
  await server.kill();
});

async function sendBulkReply(reply: IncomingMessage, response: ServerResponse): Promise<void> {
  const { done, failed, ...rest } = JSON.parse(await textOf(reply)) as BulkReply;
  const lost = done.filter(isCommitLost);
  const failures = lost.map((id) => ({
    license_id: id,
    error_code: 'unavailable',
    message: 'not confirmed',
  }));
  const sent = { ...rest, done: done.filter((id) => !isCommitLost(id)), failed: [...failed, ...failures] };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(sent));
}

/** What a command prints that fails. */
async function failureOf<Report>(...words: string[]): Promise<FailureEnvelope & Report> {
  const result = await runCli([...words, '--json', '--data-dir', dataDir]);
  expect(result.exitCode).toBe(1);
  return JSON.parse(result.stdout) as FailureEnvelope & Report;
}

describe('license import', () => {
  const folder = temporaryDirectory('imports');
  const csv = join(folder, 'licenses.csv');
  writeFileSync(csv, 'holder\nImported one\nImported two\n');
  const linesOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\r\n');

  test('asks for the outcome if its reply is lost, and saves the keys', async () => {
    isLost = (path) => path.endsWith('/licenses/import/run/');
    const keys = join(folder, 'lost-run.csv');
    const status = await cliOn(dataDir).ok<ImportStatus>('license', 'import', csv, '--keys-out', keys);
    expect(status).toMatchObject({ state: 'done', done: 2 });
    expect(linesOf(keys)).toHaveLength(3);
  });

  test('names itself if its outcome cannot be found out', async () => {
    isLost = (path) => (isGone = path.endsWith('/licenses/import/run/'));
    const keys = join(folder, 'unknown.csv');
    const words = ['license', 'import', csv, '--keys-out', keys];
    const { import_id: id, message } = await failureOf<{ import_id: string }>(...words);
    expect(message).toContain(`license-desk license import-status ${id}`);
    expect(existsSync(keys)).toBe(false);
    await server.kill();
    expect(await cliOn(dataDir).ok('license', 'import-status', id)).toMatchObject({ state: 'done' });
  });

  test('says that the licenses are imported if their keys do not arrive, and how to save them', async () => {
    isLost = (path) => path.includes('/licenses/import/result/');
    const keys = join(folder, 'lost-keys.csv');
    const words = ['license', 'import', csv, '--keys-out', keys];
    const { message, ...status } = await failureOf<ImportStatus>(...words);
    expect(status).toMatchObject({ ok: false, state: 'done', done: 2 });
    expect(message).toContain('the licenses are imported');
    expect(message).toContain(`license-desk license import-status ${status.import_id} --keys-out`);
    expect(existsSync(keys)).toBe(false);
    isLost = () => false;
    await cliOn(dataDir).ok('license', 'import-status', status.import_id, '--keys-out', keys);
    expect(linesOf(keys)).toHaveLength(3);
  });
});

test('a bulk renewal whose call fails reports what is done, what is unknown and what was not tried', async () => {
  const newLicense = async () => (await server.admin.createLicense({ holder: 'Acme' })).license.license_id;
  const [one, two, three] = [await newLicense(), await newLicense(), await newLicense()];
  const unknown = Array.from({ length: 99 }, (_one, at) => 900_000 + at);
  const further = unknown.map((id) => id + 100);
  const ids = [one, ...unknown, two, ...further, three];
  let calls = 0;
  isLost = (path) => path.endsWith('/licenses/bulk/renew/') && (calls += 1) === 2;
  const words = ['license', 'bulk-renew', ...ids.map(String)];
  type Report = BulkReply & { unknown: number[]; not_tried: number[] };
  const report = await failureOf<Report>(...words);
  expect(report).toMatchObject({ ok: false, done: [one], unknown: [two, ...further], not_tried: [three] });
  expect(report.failed.map(({ license_id: id }) => id)).toEqual(unknown);
  calls = 0;
  const text = await runCli([...words, '--data-dir', dataDir]);
  expect(text).toMatchObject({ exitCode: 1 });
  expect(text.stdout).toContain('1 renewed, 99 failed, 100 unknown, 1 not tried.');
});

test('a bulk renewal names the licenses that may have been renewed, because the answer to their commit was lost', async () => {
  const newLicense = async () => (await server.admin.createLicense({ holder: 'Acme' })).license.license_id;
  const [one, two] = [await newLicense(), await newLicense()];
  const missing = 900_000;
  isCommitLost = (id) => id === two;
  const words = ['license', 'bulk-renew', ...[one, two, missing].map(String), '--data-dir', dataDir];
  const json = await runCli([...words, '--json']);
  expect(json.exitCode).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: true,
    done: [one],
    failed: [{ license_id: missing, error_code: 'license_not_found' }],
    unknown: [two],
  });
  const text = await runCli(words);
  expect(text).toMatchObject({ exitCode: 1 });
  expect(text.stdout).toContain('1 renewed, 1 failed, 1 unknown.');
  expect(text.stdout).toContain(`Unknown:  ${two}\n\nThe unknown ones may have been renewed.`);
  // The earlier unknown ones are not lost with a later call.
  const further = Array.from({ length: 98 }, (_one, at) => missing + 1 + at);
  let calls = 0;
  isLost = (path) => path.endsWith('/licenses/bulk/renew/') && (calls += 1) === 2;
  const later = [two, missing, ...further, one].map(String);
  const report = await failureOf<{ unknown: number[] }>('license', 'bulk-renew', ...later);
  expect(report.unknown).toEqual([two, one]);
});
