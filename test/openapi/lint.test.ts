// The published document passes the linters that integrators use, without a warning.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedServer } from '../helpers/shared-server.ts';
import { readDocument } from './document.ts';

const run = promisify(execFile);
const BIN = join(import.meta.dirname, '..', '..', 'node_modules', '.bin');
const server = sharedServer();
let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'license-desk-openapi-'));
  file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify(await readDocument(server), null, 1));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const configuration = (name: string) => join(import.meta.dirname, name);
const QUIET = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** A linter that finds something fails, and what it found is in its output. */
async function findings(program: string, words: string[]): Promise<string> {
  try {
    return (await run(join(BIN, program), words, { env: QUIET })).stdout;
  } catch (error) {
    const { message, stdout } = error as Error & { stdout?: string };
    throw new Error(`${message}\n${stdout ?? ''}`, { cause: error });
  }
}

it('Redocly finds nothing', async () => {
  const words = ['lint', file, '--config', configuration('redocly.yaml'), '--format', 'json'];
  const { totals, problems } = JSON.parse(await findings('redocly', words)) as {
    totals: object;
    problems: object[];
  };
  expect(problems).toEqual([]);
  expect(totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
});

it('Spectral finds nothing', async () => {
  const words = ['lint', file, '--ruleset', configuration('spectral.yaml'), '--fail-severity', 'hint'];
  expect((await findings('spectral', words)).trim()).toMatch(
    /^No results with a severity of 'hint' or higher found!$/u,
  );
});

it('both notice a document that is wrong', async () => {
  const document = await readDocument(server);
  delete (document.paths['/renew/']!.post as Partial<{ summary: string }>).summary;
  const broken = join(folder, 'broken.json');
  await writeFile(broken, JSON.stringify({ ...document, tags: undefined }));
  const redocly = ['lint', broken, '--config', configuration('redocly.yaml')];
  await expect(run(join(BIN, 'redocly'), redocly, { env: QUIET })).rejects.toMatchObject({ code: 1 });
  const spectral = ['lint', broken, '--ruleset', configuration('spectral.yaml'), '--fail-severity', 'warn'];
  await expect(run(join(BIN, 'spectral'), spectral)).rejects.toMatchObject({ code: 1 });
});
