// A change of one license and of what belongs to it. On SQLite, such changes read their licenses together.
import { type RunTransaction, together } from '#server/database/transaction.ts';
import type { Caller } from '#server/platform/call.ts';
import { requireLicense } from '#server/rules/license-reference.ts';
import type { License, LicenseReference } from '#server/rules/license.ts';
import type { LicenseStore } from './license-store.ts';

interface ChangeOptions {
  /** The client that waits for the change. */
  caller?: Caller;
  /** Reads what else the work needs; may be called several times. */
  alsoRead?(): Promise<void>;
}

/**
 * @param work changes nothing that belongs to another license
 * @throws ApiError `license_not_found`
 */
export type ChangeLicense = <Result>(
  reference: LicenseReference,
  work: (license: License) => Promise<Result>,
  options?: ChangeOptions,
) => Promise<Result>;

export function createLicenseChange(
  licenses: Pick<LicenseStore, 'findFirst'>,
  transaction: RunTransaction,
): ChangeLicense {
  return (reference, work, { caller, alsoRead } = {}) => {
    const { id, key = null } = reference;
    let license: License | null = null;
    async function read(): Promise<void> {
      const reading = licenses.findFirst(reference).then((found) => (license = found));
      await (alsoRead ? together(reading, alsoRead()) : reading);
    }
    async function change() {
      return work(requireLicense(license));
    }
    // The same license may be named by its ID and by its key.
    return transaction(change, caller, { first: { subject: id === undefined ? key : null, read } });
  };
}
