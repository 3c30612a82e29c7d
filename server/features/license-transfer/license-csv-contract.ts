// The columns of licenses as CSV, for the export of all and of selected ones.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import type { CsvCell } from '#server/wire/csv.ts';

/** By column name. An import recognizes the same names. */
export const LICENSE_CSV: Readonly<Record<string, (license: LicenseRecord) => CsvCell>> = {
  license_key: (license) => license.license_key,
  holder: (license) => license.holder,
  email: (license) => license.email,
  product: (license) => license.product,
  plan: (license) => license.plan,
  state: (license) => license.state,
  issued_at: (license) => license.issued_at,
  expires_at: (license) => license.expires_at,
  devices: (license) => license.activation_count,
  max_devices: (license) => license.max_activations,
};
