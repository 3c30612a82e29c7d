// A file that is replaced while another program has it open, which happens on Windows only.
import { describe, expect, it } from 'vitest';
import { renameWhenFree } from '#server/platform/retry-rename.ts';

function refusing(times: number, code: string) {
  const calls: [string, string][] = [];
  const rename = (from: string, to: string) => {
    calls.push([from, to]);
    if (calls.length <= times) throw Object.assign(new Error(code), { code });
  };
  return { calls, rename };
}

describe('a file that is in use', () => {
  it.each(['EPERM', 'EACCES', 'EBUSY'])('is replaced on Windows once it is free (%s)', (code) => {
    const { calls, rename } = refusing(2, code);
    renameWhenFree('draft', 'file', { rename, platform: 'win32' });
    expect(calls).toEqual([
      ['draft', 'file'],
      ['draft', 'file'],
      ['draft', 'file'],
    ]);
  });

  it('is given up after a second', () => {
    const { calls, rename } = refusing(99, 'EPERM');
    expect(() => renameWhenFree('draft', 'file', { rename, platform: 'win32' })).toThrow('EPERM');
    expect(calls).toHaveLength(10);
  });

  it('is not waited for elsewhere, or for another reason', () => {
    for (const [platform, code] of [
      ['linux', 'EPERM'],
      ['win32', 'ENOSPC'],
    ] as const) {
      const { calls, rename } = refusing(1, code);
      expect(() => renameWhenFree('draft', 'file', { rename, platform })).toThrow(code);
      expect(calls).toHaveLength(1);
    }
  });
});
