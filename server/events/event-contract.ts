/** Everything that partners can be told of (contract, section 6). */
export const EVENT_NAMES = [
  'license.activated',
  'license.renewed',
  'license.upgraded',
  'license.revoked',
  'license.expiring',
  'license.in_grace',
  'license.expired',
  'certificate.generated',
  'certificate.revoked',
] as const;

export type EventName = (typeof EVENT_NAMES)[number];
