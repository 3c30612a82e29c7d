// Ten thousand random interleavings of look-ups and commits, against a model that knows what each caller may see.
import { describe, expect, it } from 'vitest';
import {
  createFactCache,
  createFactVersions,
  type FactCache,
  type FactVersions,
} from '#server/database/fact-cache.ts';
import { createAuthorizationLookup } from '#server/features/authorization-tokens/authorization-lookup.ts';
import { hashSecret } from '#server/platform/secret-token.ts';
import { createRandom, type Random } from '../long/random.ts';
import { roundsOr } from '../helpers/long-lane.ts';

const LICENSES = 4;
const INTERLEAVINGS = roundsOr(500);
const STEPS = 40;

interface Facts {
  licenseId: number;
  version: number;
}

const cacheOf = (versions: FactVersions, maxSize: number) =>
  createFactCache<Facts>({
    sources: [{ versions, keyOf: ({ licenseId }) => licenseId }],
    maxSize,
    keeps: 'from the second look-up',
    commonTexts: [],
  });

const lookUp = (cache: FactCache<Facts>, licenseId: number) =>
  cache.load(String(licenseId), async () => ({ licenseId, version: 0 }));

/** A step that continues later, at a moment that chance chooses. */
type Pending = () => void;

/** One interleaving. @returns the number of answers that came from memory */
async function interleave(random: Random, forget = false): Promise<number> {
  const versions = createFactVersions();
  const cache = cacheOf(versions, 8);
  /** What the database holds, and the oldest version that a call may still be answered with. */
  const stored = Array.from({ length: LICENSES }, () => 0);
  const confirmed = [...stored];
  let pending: Pending[] = [];
  let isCommitting = false;
  let fromMemory = 0;
  const calls: Promise<void>[] = [];

  async function call(licenseId: number): Promise<void> {
    const least = confirmed[licenseId] ?? 0;
    const key = String(licenseId);
    const known = cache.get(key);
    if (known) fromMemory += 1;
    const facts =
      known ??
      (await cache.load(key, async () => {
        await new Promise<void>((resolve) => pending.push(resolve));
        const read = { licenseId, version: stored[licenseId] ?? 0 };
        await new Promise<void>((resolve) => pending.push(resolve));
        return read;
      }));
    // `expect` costs more than the look-up, 200,000 times.
    if (!facts || facts.version < least) throw new Error(`version ${facts?.version} after ${least}`);
  }

  function commit(): void {
    if (isCommitting) return;
    isCommitting = true;
    const licenseId = random.integer(LICENSES);
    const keys = random.chance(0.2) ? 'all' : [licenseId];
    const isRolledBack = random.chance(0.1);
    const changed = keys === 'all' ? stored.map((_, id) => id) : [licenseId];
    if (!forget) versions.beforeCommit(keys);
    pending.push(() => {
      if (!isRolledBack) for (const id of changed) stored[id] = (stored[id] ?? 0) + 1;
      pending.push(() => {
        if (!forget) versions.afterCommit(keys);
        for (const id of changed) confirmed[id] = stored[id] ?? 0;
        isCommitting = false;
      });
    });
  }

  const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));
  for (let step = 0; step < STEPS; step += 1) {
    if (random.chance(0.15)) commit();
    if (random.chance(0.5)) calls.push(call(random.integer(LICENSES)));
    if (pending.length > 0 && random.chance(0.7))
      for (const resume of pending.splice(random.integer(pending.length), 1)) resume();
    for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
  }
  // The steps of a commit that is under way are pending, too.
  while (pending.length > 0) {
    const due = pending;
    pending = [];
    for (const resume of due) resume();
    await settle();
  }
  await Promise.all(calls);
  return fromMemory;
}

describe('facts in memory', () => {
  it(`never go back behind a confirmed commit, in ${INTERLEAVINGS} interleavings`, async () => {
    let fromMemory = 0;
    for (let seed = 0; seed < INTERLEAVINGS; seed += 1) fromMemory += await interleave(createRandom(seed, 1));
    expect(fromMemory).toBeGreaterThan(INTERLEAVINGS);
  });

  it('go back in the same interleavings if commits are not reported', async () => {
    const run = async () => {
      for (let seed = 0; seed < 100; seed += 1) await interleave(createRandom(seed, 1), true);
    };
    await expect(run()).rejects.toThrow(/^version \d+ after \d+$/u);
  });

  it('are kept when a key is looked up again', async () => {
    const cache = cacheOf(createFactVersions(), 10);
    await lookUp(cache, 1);
    expect(cache.get('1')).toBeUndefined();
    await lookUp(cache, 1);
    expect(cache.get('1')).toEqual({ licenseId: 1, version: 0 });
  });

  it('are bounded in number', async () => {
    const cache = cacheOf(createFactVersions(), 10);
    for (let id = 0; id < 100; id += 1) {
      await lookUp(cache, id);
      await lookUp(cache, id);
    }
    const kept = Array.from({ length: 100 }, (_, id) => cache.get(String(id))).filter(Boolean);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(10);
  });

  it('stay in memory for 10,000 tokens in frequent use, while others of a million are used', async () => {
    const random = createRandom(1, 1);
    let lookUps = 0;
    const facts = {
      tokenId: 1,
      licenseId: 1,
      product: 'analyzer',
      status: 'active',
      expiresAt: 0,
      lastUsedAt: null,
      licenseRevokedAt: null,
      licenseGraceEndsAt: 0,
    };
    const findToken = async () => {
      lookUps += 1;
      return facts;
    };
    const store = { findToken, findLicense: async () => null };
    const lookup = createAuthorizationLookup({ store, versions: createFactVersions() });
    /** Any of the given number of tokens, as often as given. @returns how often the database was asked */
    async function use(tokens: number, times: number): Promise<number> {
      lookUps = 0;
      for (let time = 0; time < times; time += 1) {
        const tokenHash = hashSecret(String(random.integer(tokens)));
        if (!lookup.knownToken(tokenHash)) await lookup.findToken(tokenHash);
      }
      return lookUps;
    }
    await use(10_000, 100_000);
    for (let round = 0; round < 3; round += 1) {
      expect(await use(1_000_000, 28_000)).toBeGreaterThan(25_000);
      expect(await use(10_000, 36_000)).toBeLessThan(500);
    }
  });
});
