// Back office sessions across restarts and crashes of the server.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adminSuccess, callAdmin } from '../helpers/contract-calls.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { signedIn } from '../helpers/sign-in.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

type Headers = Record<string, string>;

const isIn = async (server: TestServer, headers: Headers) =>
  (await callAdmin(server, 'serverInfo', {}, headers)).status === 200;

/** The cookie's name contains the admin port, which differs in each start of a test. */
function cookieFor(server: TestServer, { cookie = '' }: Headers): Headers {
  const port = new URL(server.adminOrigin).port;
  return { cookie: cookie.replace(/^license_desk_session_\d+/u, `license_desk_session_${port}`) };
}

it('survive a restart, with what is known about them', async () => {
  const dataDir = temporaryDirectory();
  const clock = createTestClock();
  const first = await startTestServer({ dataDir, clock });
  const kept = await signedIn(first, 'Kept/1.0');
  const ended = await signedIn(first, 'Ended/1.0');
  const { items } = await adminSuccess(first, 'listSessions');
  await callAdmin(first, 'signOut', {}, ended);
  expect(readFileSync(join(dataDir, 'sessions.json'), 'utf8')).not.toContain(kept.cookie.split('=')[1]);
  expect(statSync(join(dataDir, 'sessions.json')).mode & 0o777).toBe(0o600);
  await first.stop();

  const second = await startTestServer({ dataDir, clock });
  expect(await isIn(second, cookieFor(second, kept))).toBe(true);
  expect(await isIn(second, cookieFor(second, ended))).toBe(false);
  expect((await adminSuccess(second, 'listSessions')).items).toEqual([items[1]]);

  clock.advance(12 * 3_600_000);
  expect(await isIn(second, cookieFor(second, kept))).toBe(false);
  await second.stop();
});

it('stay ended after a restart, when others were signed out', async () => {
  const dataDir = temporaryDirectory();
  const first = await startTestServer({ dataDir });
  const [mine, other] = [await signedIn(first), await signedIn(first)];
  await callAdmin(first, 'endOtherSessions', {}, mine);
  await first.stop();
  const second = await startTestServer({ dataDir });
  expect(await isIn(second, cookieFor(second, mine))).toBe(true);
  expect(await isIn(second, cookieFor(second, other))).toBe(false);
  await second.stop();
});

it('end with a restart when their file is damaged or cannot be written, and signing in works', async () => {
  const dataDir = temporaryDirectory();
  const file = join(dataDir, 'sessions.json');
  const first = await startTestServer({ dataDir });
  const before = await signedIn(first);
  await first.stop();

  writeFileSync(file, '{"sessions": [{"hash": 5}]}');
  const second = await startTestServer({ dataDir });
  expect(await isIn(second, cookieFor(second, before))).toBe(false);
  rmSync(file, { force: true });
  mkdirSync(join(file, 'in the way'), { recursive: true });
  const now = await signedIn(second);
  expect(await isIn(second, now)).toBe(true);
  await second.stop();

  const third = await startTestServer({ dataDir });
  expect(await isIn(third, cookieFor(third, now))).toBe(false);
  await third.stop();
});
