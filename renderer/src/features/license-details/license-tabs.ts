// The tabs of the license inspector.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';

type Licensing = LicenseRecord['licensing'];

const LICENSE_TABS = [
  'facts',
  'devices',
  'seats',
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

/** Seats are taken by devices or, if the license is floating, by leases. */
export function tabsOf(licensing: Licensing): readonly LicenseTab[] {
  const without: readonly LicenseTab[] = licensing === 'floating' ? ['devices', 'file'] : ['seats'];
  return LICENSE_TABS.filter((tab) => !without.includes(tab));
}

/** A tab from the URL, where any text is possible. */
export function toLicenseTab(text: string, licensing: Licensing): LicenseTab {
  return tabsOf(licensing).find((tab) => tab === text) ?? 'facts';
}
