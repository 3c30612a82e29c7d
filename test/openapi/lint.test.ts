// The published document passes the linters that integrators use, without a warning.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedServer } from '../helpers/shared-server.ts';
import { type OpenApi, readDocument } from './document.ts';

const run = promisify(execFile);
const BIN = join(import.meta.dirname, '..', '..', 'node_modules', '.bin');
const server = sharedServer();
let folder: string;
let file: string;
let broken: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'license-desk-openapi-'));
  [file, broken] = [join(folder, 'openapi.json'), join(folder, 'broken.json')];
  const document = await readDocument(server);
  await writeFile(file, JSON.stringify(document, null, 1));
  const { openapi, info } = document as OpenApi & { openapi: string; info: object };
  // It has no summary, and its tag is not declared.
  const renew = { operationId: 'renew', tags: ['Licenses'], responses: { 200: { description: 'Success.' } } };
  await writeFile(broken, JSON.stringify({ openapi, info, paths: { '/renew/': { post: renew } } }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const configuration = (name: string) => join(import.meta.dirname, name);
const QUIET = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** What a linter prints, which fails because of the broken document. To start one takes longer than to look at both. */
async function findings(program: string, ...words: string[]): Promise<string> {
  const linting = run(join(BIN, program), ['lint', file, broken, ...words], {
    env: QUIET,
    maxBuffer: 2 ** 26,
  });
  const end = await linting.catch((error: unknown) => error as { code: number; stdout: string });
  expect(end).toMatchObject({ code: 1 });
  return end.stdout;
}

it('Redocly finds nothing, but notices a document that is wrong', async () => {
  const found = await findings('redocly', '--config', configuration('redocly.yaml'), '--format', 'json');
  const reports = found.split(/(?<=^\})\s*(?=\{)/mu).map((text) => JSON.parse(text) as object);
  expect(reports).toEqual([
    expect.objectContaining({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] }),
    expect.objectContaining({
      problems: expect.arrayContaining([expect.objectContaining({ ruleId: 'operation-summary' })]) as unknown,
    }),
  ]);
});

it('Spectral finds nothing, but notices a document that is wrong', async () => {
  const words = ['--ruleset', configuration('spectral.yaml'), '--fail-severity', 'hint', '--format', 'json'];
  const found = JSON.parse(await findings('spectral', ...words)) as { source: string; code: string }[];
  expect(found.filter(({ source }) => source !== broken)).toEqual([]);
  expect(found.map(({ code }) => code)).toContain('operation-tag-defined');
});
