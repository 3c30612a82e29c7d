// Commands whose server carries a call out, while the reply is lost.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as requestTo, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
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

beforeEach(async () => {
  dataDir = temporaryDirectory();
  server = await startServerProcess({ dataDir });
  isLost = () => false;
  isGone = false;
  proxy = createServer((request, response) => {
    if (isGone) return response.destroy();
    const { method, url = '', headers } = request;
    const sent = requestTo(server.adminOrigin + url, { method, headers }, (reply) => {
      if (isLost(url)) return response.destroy();
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
