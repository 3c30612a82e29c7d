// Which screen is behind which address. Addresses are fragments, `#/licenses?state=active`: the server sees none of them.
import { createRouter, createWebHashHistory, type RouteRecordRaw } from 'vue-router';

/** In the order of the side bar; each loads its code when it is first shown. */
const SCREENS = {
  overview: () => import('./features/overview/OverviewPage.vue'),
  licenses: () => import('./features/licenses/LicensesPage.vue'),
} as const;

export type ScreenName = keyof typeof SCREENS;

/** What the side bar shows, by group. */
export const SCREEN_GROUPS: readonly {
  group: 'licensing' | 'integration' | 'operation' | null;
  screens: readonly ScreenName[];
}[] = [
  { group: null, screens: ['overview'] },
  { group: 'licensing', screens: ['licenses'] },
];

export function isScreen(name: unknown): name is ScreenName {
  return typeof name === 'string' && name in SCREENS;
}

const routes: RouteRecordRaw[] = [
  { path: '/', redirect: { name: 'overview' } },
  ...Object.entries(SCREENS).map(([name, component]) => ({ path: `/${name}`, name, component })),
  { path: '/:anything(.*)*', name: 'nowhere', component: () => import('./shell/NowherePage.vue') },
];

export const router = createRouter({ history: createWebHashHistory(), routes });
