// Edits of a license, one field after the other.
import { expect, it } from 'vitest';
import { licenseChanges } from '#server/features/licenses/license-details-contract.ts';
import { adminSuccess, newFloatingLicense } from '../helpers/contract-calls.ts';
import { sharedServer } from '../helpers/shared-server.ts';

const server = sharedServer();

/** A value for each field that can be edited. */
const EDITS = {
  holder: 'Talmann GmbH',
  email: 'it@talmann.example',
  order_number: 'PO-7',
  notes: 'Called back',
  custom_fields: { Region: 'EMEA' },
  seats: 9,
  overdraft_seats: 3,
  borrow_max_hours: 48,
  borrow_max_count: 4,
  borrow_keep_free: 2,
} as const;

it('each field of a license that can be edited keeps its new value, and the others theirs', async () => {
  expect(Object.keys(EDITS).toSorted(), 'give every field of licenseChanges a value in EDITS').toEqual(
    Object.keys(licenseChanges).toSorted(),
  );
  const { license_key: ref } = await newFloatingLicense(server);
  const show = async () => {
    const { seat_limits, ...license } = (await server.admin.showLicense({ ref })).license;
    return { ...license, ...seat_limits } as Record<string, unknown>;
  };
  const expected = await show();
  for (const [name, value] of Object.entries(EDITS)) {
    await adminSuccess(server, 'updateLicense', { ref, [name]: value });
    expected[name] = value;
    const shown = await show();
    expect({ [name]: shown[name] }).toEqual({ [name]: value });
    expect(Object.fromEntries(Object.keys(EDITS).map((field) => [field, shown[field]]))).toEqual(
      Object.fromEntries(Object.keys(EDITS).map((field) => [field, expected[field]])),
    );
  }
});
