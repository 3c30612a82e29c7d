// Periodic maintenance of certificates.
import type { Clock } from '#server/platform/clock.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { AuthorityService } from './authority-service.ts';
import type { CertificateStore } from './certificate-store.ts';
import type { RevocationListBuilder } from './revocation-list.ts';

interface Needs {
  certificates: Pick<CertificateStore, 'hasEndedKeys' | 'wipeKeys'>;
  authority: Pick<AuthorityService, 'find' | 'isRenewalDue' | 'renewIfDue'>;
  revocationList: RevocationListBuilder;
  transaction: RunTransaction;
  clock: Clock;
  isClockTrusted(): boolean;
}

export interface UpkeepResult {
  /** Private keys that were not downloaded in time. */
  keysWiped: number;
  authorityRenewed: boolean;
  /** Number of the new CRL; null if none was due. */
  listNumber: number | null;
}

export function createCertificateUpkeep(needs: Needs) {
  const { certificates, authority, revocationList, transaction, clock } = needs;

  /** A clock that is ahead for a moment must not delete keys that can still be downloaded. */
  async function hasEndedKeys(): Promise<boolean> {
    return needs.isClockTrusted() && certificates.hasEndedKeys(clock.now());
  }

  /** Usually there are none, and the check needs no turn of the single writer. */
  async function wipeKeys(): Promise<number> {
    if (!(await hasEndedKeys())) return 0;
    return transaction(async () => (needs.isClockTrusted() ? certificates.wipeKeys(clock.now()) : 0));
  }

  return {
    /** Whether a run would change anything. */
    async isDue(): Promise<boolean> {
      if (await hasEndedKeys()) return true;
      const active = await authority.find();
      return active !== null && (authority.isRenewalDue(active) || revocationList.isDue(active));
    },
    async run(): Promise<UpkeepResult> {
      const keysWiped = await wipeKeys();
      const authorityRenewed = await authority.renewIfDue();
      return { keysWiped, authorityRenewed, listNumber: await revocationList.buildIfDue() };
    },
  };
}
