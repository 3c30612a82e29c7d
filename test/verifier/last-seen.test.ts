// A clock that was set back is noticed by what the program has stored.
import { describe, expect, test } from 'vitest';
import type { LastSeenStore } from '../../verifier/last-seen.ts';
import { verifyLicenseFile } from '../../verifier/verify-license-file.ts';
import { DAY_MS, FINGERPRINT, ISSUED_AT, KEY, licenseFile, signingKey } from './sample-license-file.ts';

const NOW = ISSUED_AT + 10 * DAY_MS;
const file = licenseFile();

function memory(seen: number | null): LastSeenStore & { seen: number | null } {
  return {
    seen,
    read() {
      return this.seen;
    },
    write(ms) {
      this.seen = ms;
    },
  };
}

const verify = (lastSeen: LastSeenStore, now = NOW, text = file) =>
  verifyLicenseFile(text, { keys: [KEY], now, fingerprint: FINGERPRINT, lastSeen });

describe('the last time the clock was seen', () => {
  test.each([
    ['nothing yet', null, null],
    ['an earlier time', NOW - 1, null],
    ['the same time', NOW, null],
    ['a time 24 hours ahead', NOW + DAY_MS, null],
    ['a time further ahead', NOW + DAY_MS + 1, 'clock_rolled_back'],
  ])('being %s', async (_name, seen, reason) => {
    expect(await verify(memory(seen))).toMatchObject({ valid: reason === null, reason });
  });

  test('moves forward with the clock, never back', async () => {
    const store = memory(null);
    await verify(store, NOW);
    expect(store.seen).toBe(NOW);
    await verify(store, NOW + 5);
    expect(store.seen).toBe(NOW + 5);
    await verify(store, NOW - DAY_MS);
    expect(store.seen).toBe(NOW + 5);
  });

  test('is remembered from a file that has run out, so that setting the clock back does not revive it', async () => {
    const store = memory(null);
    const late = ISSUED_AT + 95 * DAY_MS;
    expect(await verify(store, late)).toMatchObject({ reason: 'file_expired' });
    expect(await verify(store, NOW)).toMatchObject({ reason: 'clock_rolled_back' });
  });

  test('is not touched by a file that is not genuine', async () => {
    const store = memory(null);
    await verify(store, NOW, licenseFile({ sign: signingKey(9).sign }));
    expect(store.seen).toBeNull();
  });

  test('may be kept by a store that takes its time', async () => {
    const store = memory(NOW + 2 * DAY_MS);
    const slow: LastSeenStore = {
      read: async () => store.read(),
      write: async (ms) => store.write(ms),
    };
    expect(await verify(slow)).toMatchObject({ reason: 'clock_rolled_back' });
    expect(await verify(slow, NOW + 3 * DAY_MS)).toMatchObject({ valid: true });
    expect(store.seen).toBe(NOW + 3 * DAY_MS);
  });

  test('is not guessed where the store returns nonsense', async () => {
    await expect(verify(memory(Number.NaN))).rejects.toThrow(RangeError);
  });
});
