// Edits a license's holder and order details. Term, plan and devices have separate endpoints.
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { toLicenseRecord } from '#server/rules/license-presenter.ts';
import { ownLimits, type SeatLimitFields } from '#server/rules/license-draft.ts';
import { changeCustomFields, type CustomFieldChanges } from '#server/rules/custom-fields.ts';
import { licenseSearchText } from '#server/rules/license-search.ts';
import { requireLicense } from '#server/rules/license-reference.ts';
import type { License, LicenseReference } from '#server/rules/license.ts';
import type { LicenseStore } from './license-store.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find' | 'findForChange' | 'update'>;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

/** Undefined leaves a field unchanged; null clears it. */
interface Changes extends SeatLimitFields {
  holder?: string | undefined;
  email?: string | null | undefined;
  order_number?: string | null | undefined;
  notes?: string | null | undefined;
  custom_fields?: CustomFieldChanges | undefined;
}

/** The fields that an edit writes. */
function editedFields(license: License, changes: Changes) {
  const { holder, email, order_number, custom_fields } = changes;
  return {
    holder: holder ?? license.holder,
    email: email === undefined ? license.email : email,
    orderNumber: order_number === undefined ? license.orderNumber : order_number,
    notes: changes.notes === undefined ? license.notes : changes.notes,
    customFields:
      custom_fields === undefined
        ? license.customFields
        : changeCustomFields(license.customFields, custom_fields),
    ...ownLimits(changes, license, license),
  };
}

export function createLicenseDetails({ licenses, audit, transaction, clock }: Needs) {
  return {
    /** Writes nothing if nothing changes, so that a repeated call adds no audit entry. */
    update: (reference: LicenseReference, changes: Changes, call: Call) =>
      transaction(async () => {
        const now = clock.now();
        const before = requireLicense(await licenses.findForChange(reference));
        const edited = editedFields(before, changes);
        const after = { ...before, ...edited };
        const was = toLicenseRecord(before, now);
        if (JSON.stringify(before) === JSON.stringify(after)) return { license: was };
        await licenses.update(before.id, { ...edited, searchText: licenseSearchText(after) });
        // Read again, because a cleared override takes the plan's value.
        const license = toLicenseRecord((await licenses.find({ id: before.id })) ?? after, now);
        await audit.record(call, 'license.updated', `license:${before.id}`, was, license);
        return { license };
      }),
  };
}

export type LicenseDetails = ReturnType<typeof createLicenseDetails>;
