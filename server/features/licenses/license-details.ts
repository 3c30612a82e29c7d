// Edits a license's holder and order details. Term, plan and devices have separate endpoints.
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { toLicenseRecord } from '#server/rules/license-presenter.ts';
import { licenseNotFound } from '#server/rules/license-reference.ts';
import { foldForSearch } from '#server/rules/license-search.ts';
import type { License, LicenseReference, LicenseStore } from './license-store.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'findForChange' | 'update'>;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

/** Undefined leaves a field unchanged; null clears it. */
interface Changes {
  holder?: string | undefined;
  email?: string | null | undefined;
  order_number?: string | null | undefined;
  notes?: string | null | undefined;
}

function changed(license: License, { holder, email, order_number, notes }: Changes): License {
  return {
    ...license,
    holder: holder ?? license.holder,
    email: email === undefined ? license.email : email,
    orderNumber: order_number === undefined ? license.orderNumber : order_number,
    notes: notes === undefined ? license.notes : notes,
  };
}

export function createLicenseDetails({ licenses, audit, transaction, clock }: Needs) {
  return {
    /** Writes nothing if nothing changes, so that a repeated call adds no audit entry. */
    update: (reference: LicenseReference, changes: Changes, call: Call) =>
      transaction(async () => {
        const now = clock.now();
        const before = await licenses.findForChange(reference);
        if (!before) throw licenseNotFound();
        const after = changed(before, changes);
        const { holder, email, orderNumber, notes } = after;
        const was = toLicenseRecord(before, now);
        const license = toLicenseRecord(after, now);
        if (JSON.stringify(was) === JSON.stringify(license)) return { license };
        const searchText = foldForSearch(`${holder}\n${email ?? ''}`);
        await licenses.update(before.id, { holder, email, orderNumber, notes, searchText });
        await audit.record(call, 'license.updated', `license:${before.id}`, was, license);
        return { license };
      }),
  };
}

export type LicenseDetails = ReturnType<typeof createLicenseDetails>;
