// The log begins a new file when one is full: no line is lost, torn or said twice, and only the newest files are kept.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const FULL = 10 * 1024 * 1024;
const KEPT_FILES = 5;
/** Of a path, and so of the line about it. */
const LONG = 6000;
/** Less than the logger holds back. */
const LAG = 500_000;
const SECRET = 'ldt_a-secret-that-no-log-may-hold';

const nameOf = (number: number) => `license-desk.${number}.log`;
const folderOf = (dataDir: string) => join(dataDir, 'logs');
const read = (dataDir: string, number: number) =>
  readFileSync(join(folderOf(dataDir), nameOf(number)), 'utf8');

function numbersOf(dataDir: string): number[] {
  const names = readdirSync(folderOf(dataDir));
  return names.map((name) => Number(/^license-desk\.(\d+)\.log$/u.exec(name)?.[1])).toSorted((a, b) => a - b);
}

/** Of the files that nothing is removed from in the test. */
function bytesIn(dataDir: string): number {
  const newest = numbersOf(dataDir).filter((number) => number >= 7);
  return newest.reduce((sum, number) => sum + statSync(join(folderOf(dataDir), nameOf(number))).size, 0);
}

/** A data directory with the logs of servers before: one short file for each number, the last one `size` bytes long. */
function directoryWithLogs(numbers: number[], size: number): string {
  const dataDir = temporaryDirectory();
  mkdirSync(folderOf(dataDir), { mode: 0o700 });
  for (const number of numbers) {
    const line = `${JSON.stringify({ msg: 'of before', number })}\n`;
    const text = number === numbers.at(-1) ? line.repeat(Math.floor(size / line.length)) : line;
    writeFileSync(join(folderOf(dataDir), nameOf(number)), text, { mode: 0o600 });
  }
  return dataDir;
}

/**
 * Keeps the server talking until it has begun the file, with secrets everywhere that a caller can put one.
 * @returns the ids of all requests
 */
async function talkUntil(server: ServerProcess, number: number): Promise<string[]> {
  const ids: string[] = [];
  const before = bytesIn(server.dataDir);
  const headers = { authorization: `Bearer ${SECRET}`, cookie: `license_desk_session=${SECRET}` };
  while (!numbersOf(server.dataDir).includes(number)) {
    await atOnce(10, () => {
      const id = `talk-${ids.length}`;
      ids.push(id);
      return server.get(`/${'x'.repeat(LONG)}/?token=${SECRET}`, { ...headers, 'x-request-id': id });
    });
    await server.post('/authorize/token/', { token: SECRET });
    // What the disk cannot take for a while is dropped in the end; that is not what is looked at here.
    while (bytesIn(server.dataDir) - before < ids.length * LONG - LAG) await server.get('/health/');
  }
  return ids;
}

it('begins new files, keeps the newest five, and every line whole', { timeout: 60_000 }, async () => {
  const dataDir = directoryWithLogs([1, 2, 3, 4, 5, 6, 7], FULL - 50_000);
  const before = read(dataDir, 7);
  const server = await startServerProcess({ dataDir });
  const ids = await talkUntil(server, 9);
  expect((await server.kill()).code).toBe(0);

  expect(numbersOf(dataDir)).toEqual([5, 6, 7, 8, 9]);
  const newest = [7, 8, 9].map((number) => read(dataDir, number));
  const logged: string[] = [];
  for (const text of newest) {
    expect(text.endsWith('\n')).toBe(true);
    expect(text.includes(SECRET)).toBe(false);
    for (const line of text.trimEnd().split('\n')) {
      const { request_id: id = '' } = JSON.parse(line) as { request_id?: string };
      if (id.startsWith('talk-')) logged.push(id);
    }
  }
  expect(newest[0]?.startsWith(before)).toBe(true);
  expect(logged.toSorted()).toEqual(ids.toSorted());
  for (const number of numbersOf(dataDir)) {
    const { mode, size } = statSync(join(folderOf(dataDir), nameOf(number)));
    expect((mode & 0o777).toString(8)).toBe('600');
    expect(size).toBeLessThan(FULL * 1.1);
  }
});

it('goes on in the newest file after a restart, and removes what is beyond the newest five', async () => {
  const dataDir = directoryWithLogs([3, 4, 8, 9, 10, 11, 12], 1000);
  const before = read(dataDir, 12);
  const server = await startServerProcess({ dataDir });
  const { stderr } = await server.kill();
  expect(read(dataDir, 12)).toBe(before + stderr);
  expect(numbersOf(dataDir)).toHaveLength(KEPT_FILES);
  expect(numbersOf(dataDir).at(0)).toBe(8);
});
