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

  /** Usually there are none, and the check needs no turn of the single writer. */
  async function wipeKeys(): Promise<number> {
    if (!(await certificates.hasEndedKeys(clock.now()))) return 0;
    return transaction(() => certificates.wipeKeys(clock.now()));
  }

  return {
    /** Whether a run would change anything. */
    async isDue(): Promise<boolean> {
      if (await certificates.hasEndedKeys(clock.now())) return true;
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
