// The views of one license.
export const LICENSE_TABS = [
  'facts',
  'devices',
  'tokens',
  'certificates',
  'deliveries',
  'timeline',
  'file',
  'explain',
] as const;

export type LicenseTab = (typeof LICENSE_TABS)[number];

/** What can be done to the license itself, each in a dialog of its own. */
export type LicenseAction = 'renew' | 'upgrade' | 'revoke';

/** A tab from an address, where anything may stand. */
export function toLicenseTab(text: string): LicenseTab {
  return LICENSE_TABS.find((tab) => tab === text) ?? 'facts';
}
