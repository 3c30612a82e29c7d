// `npm run seed` fills a data directory that does not exist yet, and the real server serves what it wrote.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const SEED = resolve(import.meta.dirname, '../../scripts/seed.ts');

it('seeds a new data directory that a server can be started on', async () => {
  const dataDir = join(temporaryDirectory('seed'), 'data');
  await promisify(execFile)(process.execPath, [SEED, '--data-dir', dataDir, '--licenses', '40']);
  const server = await startServerProcess({ dataDir });
  expect(await server.admin.countLicenses({})).toMatchObject({ count: 40, exact: true });
});
