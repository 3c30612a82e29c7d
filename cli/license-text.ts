// Licenses as text.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { seatLines } from './seat-options.ts';
import { block, day, instant, type Column } from './text-layout.ts';

export const LICENSE_COLUMNS: readonly Column<LicenseRecord>[] = [
  { title: 'ID', value: (license) => license.license_id },
  { title: 'KEY', value: (license) => license.license_key },
  { title: 'HOLDER', value: (license) => license.holder, max: 32 },
  { title: 'PRODUCT', value: (license) => license.product, max: 20, wideOnly: true },
  { title: 'PLAN', value: (license) => license.plan, max: 20 },
  { title: 'STATE', value: (license) => license.state },
  { title: 'EXPIRES', value: (license) => day(license.expires_at) },
  { title: 'DEVICES', value: seatsTaken, wideOnly: true },
];

/** @param more further lines, after an empty one */
export function licenseBlock(license: LicenseRecord, more?: readonly [name: string, value: string]): string {
  const facts = block([
    ['License key', license.license_key],
    ['ID', license.license_id],
    ['Holder', license.holder],
    ['Email', license.email],
    ['Order number', license.order_number],
    ['Product', license.product],
    ['Plan', license.plan],
    ['State', license.state],
    ['Issued', instant(license.issued_at)],
    ['Expires', instant(license.expires_at)],
    ['Grace period ends', instant(license.grace_ends_at)],
    ...(license.revoked_at === null
      ? []
      : ([
          ['Revoked', instant(license.revoked_at)],
          ['Reason', license.revoke_reason],
        ] as const)),
    ...(license.seat_limits === null
      ? ([
          ['Devices', seatsTaken(license)],
          ['Newest device', license.machine_fingerprint],
        ] as const)
      : seatLines(license.seat_limits)),
    ['Entitlements', license.features.join(', ')],
    ['Notes', license.notes],
  ]);
  const custom = Object.entries(license.custom_fields);
  return [
    facts,
    ...(custom.length === 0 ? [] : [`Custom fields\n${block(custom)}`]),
    ...(more === undefined ? [] : [block([more])]),
  ].join('\n\n');
}

function seatsTaken(license: LicenseRecord): string {
  if (license.licensing === 'floating') return `${license.seats ?? 'unlimited'} floating`;
  return `${license.activation_count} of ${license.max_activations ?? 'unlimited'}`;
}
