// What certificates need done from time to time, whether or not anybody calls.
import type { Clock } from '#server/platform/clock.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { AuthorityService } from './authority-service.ts';
import type { CertificateStore } from './certificate-store.ts';
import type { RevocationListBuilder } from './revocation-list.ts';

interface Needs {
  certificates: Pick<CertificateStore, 'hasEndedKeys' | 'wipeKeys'>;
  authority: Pick<AuthorityService, 'find' | 'renewIfDue'>;
  revocationList: RevocationListBuilder;
  transaction: RunTransaction;
  clock: Clock;
}

export interface UpkeepResult {
  /** Private keys that nobody fetched in time. */
  keysWiped: number;
  authorityRenewed: boolean;
  /** Number of the new revocation list; null if none was due. */
  listNumber: number | null;
}

export function createCertificateUpkeep(needs: Needs) {
  const { certificates, authority, revocationList, transaction, clock } = needs;

  /** Mostly there are none, and then nothing has to wait for the database's one writer. */
  async function wipeKeys(): Promise<number> {
    if (!(await certificates.hasEndedKeys(clock.now()))) return 0;
    return transaction(() => certificates.wipeKeys(clock.now()));
  }

  return {
    async run(): Promise<UpkeepResult> {
      const keysWiped = await wipeKeys();
      const authorityRenewed = await authority.renewIfDue();
      const active = await authority.find();
      return {
        keysWiped,
        authorityRenewed,
        listNumber: active && (await revocationList.buildIfDue(active)),
      };
    },
  };
}
