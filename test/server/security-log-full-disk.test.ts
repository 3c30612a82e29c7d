// The security log on a full disk. Mounting a small one takes root.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSecurityLog } from '#server/platform/security-log.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';

const disk = mountSmallDisk(1);
if (typeof disk === 'string') process.stderr.write(`security-log-full-disk.test.ts is skipped: ${disk}\n`);

describe.skipIf(typeof disk === 'string')('a full disk', () => {
  const { path, fill, free, unmount } = disk as SmallDisk;
  afterAll(() => unmount());

  const lines = () => readFileSync(join(path, 'security.1.log'), 'utf8').trimEnd().split('\n');
  const numbersIn = (written: readonly string[]) =>
    written.map((line) => (JSON.parse(line) as { number: number }).number);

  it('leaves no part of a line, and what was kept is written at the end', () => {
    const dropped: unknown[] = [];
    const log = createSecurityLog(path, (...lost) => dropped.push(lost));
    const record = (number: number) => log.record('api_token.created', { number, name: 'x'.repeat(500) });
    record(0);
    fill();
    // The last page has room for some of them, and for a part of one.
    for (let number = 1; number <= 40; number += 1) record(number);
    const kept = numbersIn(lines());
    expect(kept.length).toBeGreaterThan(1);
    expect(kept.length).toBeLessThan(41);
    free();
    log.close();
    expect(numbersIn(lines())).toEqual(Array.from({ length: 41 }, (_, number) => number));
    expect(dropped).toEqual([]);
  });
});
