// Maps URLs to screens. URLs use fragments, `#/licenses?state=active`, which never reach the server.
import type { Component } from 'vue';
import {
  createRouter,
  createWebHashHistory,
  type NavigationGuard,
  type RouteLocationNormalized,
  type RouteRecordRaw,
  START_LOCATION,
} from 'vue-router';
import { showToast } from './components/toasts.ts';
import { askForOverview } from './features/overview/overview-query.ts';
import { i18n } from './i18n/i18n.ts';
import NotLoadedPage from './shell/NotLoadedPage.vue';

/** In the order of the navigation. Each screen loads its code on first use. */
const SCREENS = {
  overview: () => {
    askForOverview();
    return import('./features/overview/OverviewPage.vue');
  },
  licenses: () => import('./features/licenses/LicensesPage.vue'),
  floating: () => import('./features/floating/FloatingPage.vue'),
  'license-print': () => import('./features/license-print/LicensePrintPage.vue'),
  'air-gap': () => import('./features/air-gap/AirGapPage.vue'),
  'authorization-tokens': () => import('./features/authorization-tokens/AuthorizationTokensPage.vue'),
  certificates: () => import('./features/certificates/CertificatesPage.vue'),
  plans: () => import('./features/plans/PlansPage.vue'),
  webhooks: () => import('./features/webhooks/WebhooksPage.vue'),
  webhook: () => import('./features/webhooks/WebhookPage.vue'),
  'failed-events': () => import('./features/failed-events/FailedEventsPage.vue'),
  'api-access': () => import('./features/api-access/ApiAccessPage.vue'),
  audit: () => import('./features/audit/AuditPage.vue'),
  statistics: () => import('./features/statistics/StatisticsPage.vue'),
  settings: () => import('./features/settings/SettingsPage.vue'),
  'first-run': () => import('./features/first-run/FirstRunPage.vue'),
} as const;

/** For print: no navigation, no dark mode. */
export const PAPER_SCREEN = 'license-print' satisfies keyof typeof SCREENS;
const PATHS: Partial<Record<ScreenName, string>> = {
  [PAPER_SCREEN]: '/licenses/print',
  webhook: String.raw`/webhooks/:id(\d+)`,
};

/** Pages of one record belong to the screen that lists them. */
export const LISTED_ON: Partial<Record<ScreenName, ScreenName>> = { webhook: 'webhooks' };

export type ScreenName = keyof typeof SCREENS;

/** The navigation, by group. */
export const SCREEN_GROUPS: readonly {
  group: 'licensing' | 'integration' | 'operation' | null;
  screens: readonly ScreenName[];
}[] = [
  { group: null, screens: ['overview'] },
  {
    group: 'licensing',
    screens: ['licenses', 'floating', 'air-gap', 'authorization-tokens', 'certificates', 'plans'],
  },
  { group: 'integration', screens: ['webhooks', 'failed-events', 'api-access'] },
  { group: 'operation', screens: ['statistics', 'audit', 'settings'] },
];

export function isScreen(name: unknown): name is ScreenName {
  return typeof name === 'string' && name in SCREENS;
}

type LoadCode = () => Promise<{ default: Component }>;

/** A guard loads the code, because the router does not tell code that cannot be loaded from other errors. */
function routeOf(path: string, name: string, load: LoadCode): RouteRecordRaw {
  const components: Record<string, Component> = { default: NotLoadedPage };
  const beforeEnter: NavigationGuard = async (to, from) => {
    if (components['default'] !== NotLoadedPage) return true;
    try {
      components['default'] = (await load()).default;
      return true;
    } catch (error) {
      // What throws while it is loaded is a bug in the page.
      reportError(error);
      return from === START_LOCATION ? true : stayOnScreen(to);
    }
  };
  return { path, name, beforeEnter, components };
}

const routes: RouteRecordRaw[] = [
  { path: '/', redirect: { name: 'overview' } },
  ...Object.entries(SCREENS).map(([name, load]) =>
    routeOf(PATHS[name as ScreenName] ?? `/${name}`, name, load),
  ),
  routeOf('/:anything(.*)*', 'nowhere', () => import('./shell/NotFoundPage.vue')),
];

const history = createWebHashHistory();
export const router = createRouter({ history, routes });

/** The screen that was asked for last. */
let latest: RouteLocationNormalized = START_LOCATION;
/** Of the current screen. The browser changes the address before the screen that it leads to is loaded. */
let position = 0;
const addressPosition = () => Number(history.state['position']);

router.beforeEach((to) => {
  latest = to;
});
router.afterEach((_to, _from, failure) => {
  if (!failure) position = addressPosition();
});

/** The code of a screen could not be loaded. */
function stayOnScreen(to: RouteLocationNormalized): boolean | Promise<never> {
  // The router cancels the navigation, because another one has followed.
  if (to !== latest) return true;
  // Without this, the click would seem to do nothing.
  showToast(i18n.global.t('common.notLoaded'), { tone: 'bad' });
  const steps = position - addressPosition();
  if (steps === 0) return false;
  history.go(steps, false);
  // On false, the router would go back as well, and not past an entry whose screen was left before it was loaded.
  return new Promise(() => {});
}

/**
 * The router gives a typed address the position of the entry before it. If Back from there is refused, it cannot tell
 * the direction, and leaves the page. With a state as the router writes it, the entry has the next position.
 */
function adoptTypedAddress(event: PopStateEvent): void {
  if (event.state !== null) return;
  event.stopImmediatePropagation();
  const state = {
    back: history.location,
    current: location.hash.slice(1),
    forward: null,
    position: Number(history.state['position']) + 1,
    replaced: false,
  };
  window.history.replaceState(state, '');
  dispatchEvent(new PopStateEvent('popstate', { state }));
}
// Ahead of the router's own listener.
addEventListener('popstate', adoptTypedAddress, { capture: true });

/** The router puts the address of its first screen back if another one is entered while that screen is loading. */
export async function followAddress(): Promise<void> {
  let asked: string | null = null;
  const note = () => {
    asked = location.hash.slice(1);
  };
  addEventListener('popstate', note);
  await router.isReady();
  removeEventListener('popstate', note);
  if (asked !== null) await router.replace(asked);
}
