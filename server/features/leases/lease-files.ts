// Lease files: license files for the time of a lease, which client software can check without a connection.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseFiles } from '#server/features/signing/license-file-service.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { LeaseFileStore } from './lease-file-store.ts';
import { endOf, type Times } from './lease-presenter.ts';
import type { LeaseRow } from './lease-row.ts';

interface LeaseFileOrder {
  license: License;
  lease: LeaseRow;
  encrypt: boolean;
  times: Times;
}

interface Needs {
  files: Pick<LicenseFiles, 'activeKey' | 'issueLease'>;
  records: LeaseFileStore;
  transaction: RunTransaction;
}

export interface LeaseFiles {
  /** Signs a file that is valid until the lease ends. That of a borrowed seat is on record before it is handed out. */
  issue(order: LeaseFileOrder): Promise<string>;
}

export function createLeaseFiles({ files, records, transaction }: Needs): LeaseFiles {
  return {
    async issue({ license, lease, encrypt, times }) {
      const key = await files.activeKey();
      const until = endOf(lease, times);
      if (lease.state === 'borrowed') {
        const issued = { signingKeyId: key.id, issuedAt: times.at, expiresAt: until };
        await transaction(() => records.record({ leaseId: lease.id, ...issued }));
      }
      return files.issueLease({
        license,
        key,
        encrypt,
        until,
        fingerprint: lease.machineFingerprint,
        lease: {
          lease_id: lease.id,
          state: lease.state === 'borrowed' ? 'borrowed' : 'active',
          units: lease.units,
          feature: lease.feature,
          counted_as: lease.seatKey,
          issued_at: toTimestamp(lease.issuedAt),
          expires_at: toTimestamp(until),
        },
      });
    },
  };
}
