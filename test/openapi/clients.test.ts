// Clients that are made from the document alone run against the real server.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedServer } from '../helpers/shared-server.ts';
import { readDocument } from './document.ts';

const run = promisify(execFile);
const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');
const server = sharedServer();
let folder: string;
let token: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'license-desk-client-'));
  ({ api_token: token } = await server.admin.createApiToken({ name: 'client', role: 'admin' }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const OUTCOME = {
  state: 'issued',
  activated: 'active',
  authorized: true,
  revoked: 'revoked',
  reason: 'license_revoked',
  devices: 1,
  code: 'license_revoked',
};

it('TypeScript types of openapi-typescript compile, and their client works', async () => {
  await cp(join(import.meta.dirname, 'typescript-client'), folder, { recursive: true });
  await symlink(MODULES, join(folder, 'node_modules'), 'dir');
  const document = await readDocument(server);
  const types = await openapiTS(document as unknown as Parameters<typeof openapiTS>[0]);
  await writeFile(join(folder, 'api.ts'), astToString(types));
  // The compiler knows the fields: a wrong one is the only error.
  await writeFile(
    join(folder, 'wrong.ts'),
    `import type { paths } from './api.ts';
export const wrong: paths['/activate/']['post']['requestBody']['content']['application/json'] = { license_key: 5 };
`,
  );
  const compiler = join(MODULES, 'typescript', 'bin', 'tsc');
  const compiling = run(process.execPath, ['--max-semi-space-size=128', compiler, '-p', '.'], {
    cwd: folder,
  });
  const { stdout: errors } = await compiling.catch((error: unknown) => error as { stdout: string });
  expect(errors.match(/^\S.*$/gmu)).toEqual([expect.stringMatching(/^wrong\.ts\(2,\d+\): error TS2322/u)]);
  const { stdout } = await run(process.execPath, [join(folder, 'flow.ts'), server.api, token]);
  expect(JSON.parse(stdout)).toEqual({ ...OUTCOME, renewed: 30 * 86_400_000 });
});

it('a Python client finds every call by its operationId', async () => {
  const { stdout } = await run('python3', [join(import.meta.dirname, 'python_client.py'), server.api, token]);
  expect(JSON.parse(stdout)).toEqual({ ...OUTCOME, renewed: true });
});
