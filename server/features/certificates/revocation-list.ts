// When a CRL is rebuilt, and from which entries (RFC 5280, section 5).
import type { Clock } from '#server/platform/clock.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { Authority } from './authority.ts';
import { CLOCK_SKEW_MS, wholeSeconds } from './certificate-time.ts';
import { buildRevocationList } from './crl-builder.ts';
import type { RevocationListRow, RevocationListStore } from './revocation-list-store.ts';

/**
 * Relying parties reject all certificates once the CRL expires, so it is valid for much longer than the rebuild
 * interval.
 */
const VALID_MS = 7 * DAY_MS;
const REBUILD_AFTER_MS = DAY_MS;
const SECOND_MS = 1000;

interface Needs {
  lists: RevocationListStore;
  transaction: RunTransaction;
  clock: Clock;
}

export function createRevocationListBuilder({ lists, transaction, clock }: Needs) {
  async function isDue(newest: RevocationListRow | null, authority: Authority): Promise<boolean> {
    if (newest?.authorityId !== authority.id) return true;
    const age = clock.now() - newest.builtAt;
    // Built in the future: the clock was set back, and the CRL is not valid yet.
    return age < 0 || age >= REBUILD_AFTER_MS || lists.hasUnlisted(authority.keyIdentifier);
  }

  return {
    isDue: async (authority: Authority): Promise<boolean> => isDue(await lists.newest(), authority),
    /** @returns the number of the new CRL, or null if the current one is still good */
    async buildIfDue(authority: Authority): Promise<number | null> {
      if (!(await isDue(await lists.newest(), authority))) return null;
      return transaction(async () => {
        const newest = await lists.newest();
        // Another server may have built one first.
        if (!(await isDue(newest, authority))) return null;
        const now = clock.now();
        // Above all numbers that were used before a restore of an older database.
        const number = Math.max((newest?.number ?? 0) + 1, Math.floor(now / SECOND_MS));
        const list = {
          number,
          authorityId: authority.id,
          authorityKey: authority.keyIdentifier,
          builtAt: now,
          thisUpdate: wholeSeconds(now - CLOCK_SKEW_MS),
          nextUpdate: wholeSeconds(now + VALID_MS),
          // Each certificate is in one CRL built after it expired, and is left out of the next (RFC 5280, section 3.3).
          // A CRL built while the clock was ahead does not count for that.
          endedBefore: Math.min(newest?.builtAt ?? 0, now),
        };
        const entries = await lists.collectEntries(list);
        await lists.replace(list, buildRevocationList({ ...list, issuer: authority.issuer, entries }));
        return number;
      });
    },
  };
}

export type RevocationListBuilder = ReturnType<typeof createRevocationListBuilder>;
