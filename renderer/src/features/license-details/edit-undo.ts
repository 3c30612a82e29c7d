// Takes an edit of a license back, unless one of its fields was changed since then.
import { useI18n } from 'vue-i18n';
import type { licenseAdminContract, LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { customField } from '#server/wire/custom-fields.ts';
import type { RequestInput } from '#server/wire/endpoint.ts';
import { adminClient } from '../../api/admin-client.ts';
import { useUndoRefusal } from '../../components/undo-refusal.ts';
import { SEAT_LIMIT_LABELS, seatLimitDraft, toSeatLimits } from './seat-limit-draft.ts';

/** The request that takes the edit back. */
type Undone = Omit<RequestInput<typeof licenseAdminContract.updateLicense>, 'ref'>;

const LABELS = {
  holder: 'licenses.columns.holder',
  email: 'licenses.email',
  order_number: 'licenses.orderNumber',
  notes: 'licenses.notes',
  ...SEAT_LIMIT_LABELS,
} as const satisfies Record<Exclude<keyof Undone, 'custom_fields'>, string>;
type Field = keyof typeof LABELS;

function valueOf(license: LicenseRecord, field: Field): unknown {
  return { ...license, ...toSeatLimits(seatLimitDraft(license.seat_limits)) }[field];
}

export function useEditUndo() {
  const { t } = useI18n();
  const refuseChanged = useUndoRefusal();

  /** @param saved the license as the edit left it */
  return async (saved: LicenseRecord, undone: Undone): Promise<void> => {
    const ref = String(saved.license_id);
    // A change that is saved between these two calls is still overwritten: unlike a renewal, an edit has no condition
    // that the server checks.
    const { license: current } = await adminClient.showLicense({ ref });
    const fields = (Object.keys(LABELS) as Field[]).filter(
      (field) => field in undone && valueOf(current, field) !== valueOf(saved, field),
    );
    const customFields = Object.keys(undone.custom_fields ?? {}).filter(
      (name) => customField(current.custom_fields, name) !== customField(saved.custom_fields, name),
    );
    refuseChanged([...fields.map((field) => t(LABELS[field])), ...customFields]);
    await adminClient.updateLicense({ ref, ...undone });
  };
}
