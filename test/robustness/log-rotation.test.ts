// The log begins a new file when one is full: no line is lost, torn or said twice, and only the newest files are kept.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { eventually } from '../helpers/eventually.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const FULL = 10 * 1024 * 1024;
const KEPT_FILES = 5;
/** Longer than what is logged of a path. */
const LONG = 6000;
/** Of a request's line at most: a flood of long paths must not rotate the log away. */
const LONGEST_LINE = 600;
const SECRET = 'ldt_a-secret-that-no-log-may-hold';

const nameOf = (number: number) => `license-desk.${number}.log`;
const folderOf = (dataDir: string) => join(dataDir, 'logs');
const read = (dataDir: string, number: number) =>
  readFileSync(join(folderOf(dataDir), nameOf(number)), 'utf8');

function numbersOf(dataDir: string): number[] {
  const names = readdirSync(folderOf(dataDir));
  return names.map((name) => Number(/^license-desk\.(\d+)\.log$/u.exec(name)?.[1])).toSorted((a, b) => a - b);
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
  const headers = { authorization: `Bearer ${SECRET}`, cookie: `license_desk_session_1=${SECRET}` };
  while (!numbersOf(server.dataDir).includes(number)) {
    await atOnce(10, () => {
      const id = `talk-${ids.length}`;
      ids.push(id);
      return server.get(`/${SECRET}/${'x'.repeat(LONG)}/?token=${SECRET}`, {
        ...headers,
        'x-request-id': id,
      });
    });
    await server.post('/authorize/token/', { token: SECRET });
  }
  return ids;
}

it('begins new files, keeps the newest five, and every line whole', async () => {
  const dataDir = directoryWithLogs([1, 2, 3, 4, 5, 6, 7], FULL - 5_000);
  const before = read(dataDir, 7);
  const server = await startServerProcess({ dataDir });
  const ids = await talkUntil(server, 8);
  expect((await server.kill()).code).toBe(0);

  expect(numbersOf(dataDir)).toEqual([4, 5, 6, 7, 8]);
  const newest = [7, 8].map((number) => read(dataDir, number));
  for (const text of newest) {
    expect(text.endsWith('\n')).toBe(true);
    expect(text.includes(SECRET)).toBe(false);
  }
  const lines = newest.flatMap((text) => text.trimEnd().split('\n'));
  expect(lines.filter(({ length }) => length >= LONGEST_LINE)).toEqual([]);
  const logged = lines
    .map((line) => (JSON.parse(line) as { request_id?: string }).request_id ?? '')
    .filter((id) => id.startsWith('talk-'));
  expect(newest[0]?.startsWith(before)).toBe(true);
  expect(logged.toSorted()).toEqual(ids.toSorted());
  for (const number of numbersOf(dataDir)) {
    const { mode, size } = statSync(join(folderOf(dataDir), nameOf(number)));
    expect((mode & 0o777).toString(8)).toBe('600');
    expect(size).toBeLessThan(FULL * 1.1);
  }
});

it('continues in the newest file after a restart, and keeps the newest five', async () => {
  const dataDir = directoryWithLogs([3, 4, 8, 9, 10, 11, 12], 1000);
  const before = read(dataDir, 12);
  const server = await startServerProcess({ dataDir });
  const { stderr } = await server.kill();
  expect(read(dataDir, 12)).toBe(before + stderr);
  expect(numbersOf(dataDir)).toHaveLength(KEPT_FILES);
  expect(numbersOf(dataDir).at(0)).toBe(8);
});

it('opens the files anew on SIGHUP, as logrotate expects, and loses no line', async () => {
  const dataDir = temporaryDirectory();
  const server = await startServerProcess({ dataDir });
  const path = join(folderOf(dataDir), nameOf(1));
  const renamed: string[] = [];
  const ids: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const talking = atOnce(50, async () => {
      const id = `round-${ids.length}`;
      ids.push(id);
      await server.get('/public-key/', { 'x-request-id': id });
    });
    renamed.push(`${path}.${round}`);
    renameSync(path, `${path}.${round}`);
    process.kill(server.pid, 'SIGHUP');
    await server.logLines({ msg: 'reopened the log files' }, round + 1);
    await talking;
    await eventually(() => expect(existsSync(path)).toBe(true));
  }
  const { code, stderr } = await server.kill();
  expect(code).toBe(0);
  const parts = [...renamed, path].map((name) => readFileSync(name, 'utf8'));
  for (const part of parts) expect(part).toMatch(/^(?:\{.*\}\n)+$/u);
  expect(parts.join('')).toBe(stderr);
  for (const id of ids) expect(stderr.includes(`"request_id":"${id}"`)).toBe(true);
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
});
