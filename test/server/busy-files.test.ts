// Files that another program has open, which happens on Windows only.
import { describe, expect, it } from 'vitest';
import { whenFree, whenFreeLater } from '#server/platform/busy-files.ts';

function refusing(times: number, code: string) {
  let count = 0;
  const work = () => {
    count += 1;
    if (count <= times) throw Object.assign(new Error(code), { code });
  };
  return { work, calls: () => count };
}

const WAYS = [
  ['blocking', async (work: () => void, platform: NodeJS.Platform) => whenFree(work, platform)],
  [
    'in the background',
    (work: () => void, platform: NodeJS.Platform) => whenFreeLater(async () => work(), platform),
  ],
] as const;

describe.each(WAYS)('a file that is in use, %s', (_way, run) => {
  it.each(['EPERM', 'EACCES', 'EBUSY', 'ENOTEMPTY'])(
    'is taken on Windows once it is free (%s)',
    async (code) => {
      const { work, calls } = refusing(2, code);
      await run(work, 'win32');
      expect(calls()).toBe(3);
    },
  );

  it('is given up after a second', async () => {
    const { work, calls } = refusing(99, 'EPERM');
    await expect(run(work, 'win32')).rejects.toThrow('EPERM');
    expect(calls()).toBe(10);
  });

  it('is not waited for elsewhere, or for another reason', async () => {
    for (const [platform, code] of [
      ['linux', 'EPERM'],
      ['win32', 'ENOSPC'],
    ] as const) {
      const { work, calls } = refusing(1, code);
      await expect(run(work, platform)).rejects.toThrow(code);
      expect(calls()).toBe(1);
    }
  });
});
