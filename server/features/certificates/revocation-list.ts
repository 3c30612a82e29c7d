// When a CRL is rebuilt, and from which entries (RFC 5280, section 5).
import type { Clock } from '#server/platform/clock.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { Authority } from './authority.ts';
import { CLOCK_SKEW_MS, wholeSeconds } from './certificate-time.ts';
import { buildRevocationList, entriesOf } from './crl-builder.ts';
import type { RevocationListRow, RevocationListStore } from './revocation-list-store.ts';

/**
 * Relying parties reject all certificates once the CRL expires, so it is valid for much longer than the rebuild
 * interval.
 */
const VALID_MS = 7 * DAY_MS;
const REBUILD_AFTER_MS = DAY_MS;
/** Until then a CRL is the one before it with new entries: reading all entries again takes most of the time. */
const ALL_AFTER_MS = 2 * REBUILD_AFTER_MS;
const SECOND_MS = 1000;

interface Needs {
  lists: RevocationListStore;
  /** The active one. */
  findAuthority(): Promise<Authority | null>;
  transaction: RunTransaction;
  clock: Clock;
}

export function createRevocationListBuilder({ lists, findAuthority, transaction, clock }: Needs) {
  async function isDue(newest: RevocationListRow | null, authority: Authority): Promise<boolean> {
    if (newest?.authorityId !== authority.id) return true;
    const age = clock.now() - newest.builtAt;
    // Built in the future: the clock was set back, and the CRL is not valid yet.
    return age < 0 || age >= REBUILD_AFTER_MS || lists.hasUnlisted(authority.keyIdentifier);
  }

  /**
   * The entries of the CRL that the next one can go on from, which then leaves out no more ended certificates than it
   * does. RFC 5280, section 3.3, allows an entry to stay.
   * @returns null if all entries have to be read
   */
  async function inherited(newest: RevocationListRow | null, authority: Authority): Promise<Buffer | null> {
    if (newest?.authorityKey !== authority.keyIdentifier) return null;
    const age = clock.now() - newest.endedBefore;
    if (age < 0 || age >= ALL_AFTER_MS || (await lists.hasPassing(newest))) return null;
    const der = await lists.der(newest.number);
    return der && entriesOf(der);
  }

  return {
    isDue: async (authority: Authority): Promise<boolean> => isDue(await lists.newest(), authority),
    /** @returns the number of the new CRL, or null if the current one is still good or there is no authority */
    async buildIfDue(): Promise<number | null> {
      const active = await findAuthority();
      if (!active || !(await isDue(await lists.newest(), active))) return null;
      return transaction(async () => {
        await lists.lock();
        // Another server may have replaced the authority, or built a CRL, first.
        const authority = (await findAuthority()) ?? active;
        const newest = await lists.newest();
        if (!(await isDue(newest, authority))) return null;
        const earlier = await inherited(newest, authority);
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
          endedBefore: earlier && newest ? newest.endedBefore : Math.min(newest?.builtAt ?? 0, now),
        };
        const entries = earlier
          ? Buffer.concat([earlier, await lists.collectEntries(list, 'new')])
          : await lists.collectEntries(list, 'all');
        await lists.replace(list, buildRevocationList({ ...list, issuer: authority.issuer, entries }));
        return number;
      });
    },
  };
}

export type RevocationListBuilder = ReturnType<typeof createRevocationListBuilder>;
