// The tabs of the license inspector.
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

/** Actions on a license, each with its own dialog. */
export type LicenseAction = 'renew' | 'upgrade' | 'revoke' | 'edit' | 'handOver';

/** A tab from the URL, where any text is possible. */
export function toLicenseTab(text: string): LicenseTab {
  return LICENSE_TABS.find((tab) => tab === text) ?? 'facts';
}
