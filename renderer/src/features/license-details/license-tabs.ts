// The tabs of the license inspector, and the views that they hold.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';

type Licensing = LicenseRecord['licensing'];

/** More than one view: a tab opens with its first and offers the others. */
const LICENSE_TABS = [
  { name: 'facts', views: ['facts'] },
  { name: 'devices', views: ['devices'] },
  { name: 'seats', views: ['seats'] },
  { name: 'access', views: ['tokens', 'certificates', 'file'] },
  { name: 'activity', views: ['timeline', 'deliveries'] },
  { name: 'explain', views: ['explain'] },
] as const;

export type LicenseTab = (typeof LICENSE_TABS)[number]['name'];
/** As in the URL: every view has its own address. */
export type LicenseView = (typeof LICENSE_TABS)[number]['views'][number];

/** Actions on a license, each with its own dialog. */
export type LicenseAction = 'renew' | 'upgrade' | 'revoke' | 'edit' | 'handOver';

interface TabViews {
  name: LicenseTab;
  views: readonly LicenseView[];
}

/** Seats are taken by devices or, if the license is floating, by leases. */
export function tabsOf(licensing: Licensing): readonly TabViews[] {
  const without: readonly LicenseView[] = licensing === 'floating' ? ['devices', 'file'] : ['seats'];
  return LICENSE_TABS.map(({ name, views }) => ({
    name,
    views: views.filter((view) => !without.includes(view)),
  })).filter(({ views }) => views.length > 0);
}

export const tabOf = (view: LicenseView): LicenseTab =>
  LICENSE_TABS.find(({ views }) => (views as readonly LicenseView[]).includes(view))?.name ?? 'facts';

export const viewsOf = (licensing: Licensing): readonly LicenseView[] =>
  tabsOf(licensing).flatMap(({ views }) => views);

/** A view from the URL, where any text is possible. */
export function toLicenseView(text: string, licensing: Licensing): LicenseView {
  return viewsOf(licensing).find((view) => view === text) ?? 'facts';
}
