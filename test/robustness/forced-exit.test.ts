// A stop that takes too long: the process ends all the same, but says so. And what clients hear while a stop is under way.
import { expect, it } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { join } from 'node:path';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

/** As another program would hold the database. */
async function lockDatabase(dataDir: string) {
  const other = await connect({ url: null, file: join(dataDir, 'license-desk.db') });
  await other.query('BEGIN IMMEDIATE');
  return { release: () => other.close() };
}

it('exits with 1 when a stop does not end in time, and names what was still under way', async () => {
  const dataDir = temporaryDirectory();
  const server = await startServerProcess({ dataDir });
  const { license } = await server.admin.createLicense({ holder: 'Held up' });
  const { token } = await server.admin.issueToken({ license: license.license_key });
  const lock = await lockDatabase(dataDir);
  // Counted in memory, and written at the stop at the latest.
  await server.post('/authorize/token/', { token });
  const { code, stderr } = await server.kill();
  await lock.release();
  expect(code).toBe(1);
  const lines = stderr.trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({
    level: 50,
    ending: 'database',
    requests: 0,
    msg: 'forced exit: the server did not stop in time',
  });
});

/** Asks a server whether it is ready, and stops it before it answers. */
async function readinessDuringStop() {
  const dataDir = temporaryDirectory();
  const server = await startServerProcess({ dataDir });
  const lock = await lockDatabase(dataDir);
  // Its write waits for the lock; another call that is answered shows that it has arrived.
  const waiting = server.get('/health/ready/');
  expect((await server.get('/health/live/')).status).toBe(200);
  const ended = server.kill();
  const { status, body } = await waiting;
  expect(status).toBe(503);
  await lock.release();
  expect((await ended).code).toBe(0);
  return body.checks;
}

it('is not ready, but alive, while it finishes requests in progress', async () => {
  let checks = await readinessDuringStop();
  // On a busy machine the signal may come after the answer, which waits for 2 s at most.
  for (let more = 4; more > 0 && checks.draining === 'ok'; more -= 1) checks = await readinessDuringStop();
  expect(checks).toMatchObject({ draining: 'failing' });
});
