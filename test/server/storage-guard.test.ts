// Why changes are refused: several reasons may hold at the same time.
import { expect, it, vi } from 'vitest';
import { createStorageGuard } from '#server/database/storage-guard.ts';

it('refuses changes until the last reason has ended', () => {
  const guard = createStorageGuard();
  const onResume = vi.fn();
  guard.onResume(onResume);
  guard.resumeWrites('moving');
  guard.stopWrites('moving');
  guard.stopWrites('gone');
  expect(guard.isGone()).toBe(true);
  // The data directory is back, but the data is about to be elsewhere.
  guard.resumeWrites('gone');
  expect(() => guard.check()).toThrow('is being moved');
  guard.stopWrites('gone');
  guard.resumeWrites('moving');
  expect(() => guard.check()).toThrow('removed or replaced');
  expect(guard.isStopped()).toBe(true);
  expect(onResume).not.toHaveBeenCalled();
  guard.resumeWrites('gone');
  expect(guard.isStopped()).toBe(false);
  expect(onResume).toHaveBeenCalledOnce();
  guard.check();
});
