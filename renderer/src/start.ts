// The first code of the page: small, so that the server works on its replies while the rest is loaded and compiled.
import { openingCalls, screenAddress } from './opening/opening-calls.ts';
import { preloadFonts } from './opening/opening-fonts.ts';
import { beginOpening } from './opening/early-replies.ts';

/** Loaded beside `main.ts`, whose router asks for them once it runs, and reports what cannot be loaded. */
const SCREENS: Record<string, () => Promise<unknown>> = {
  '#/overview': () => import('./features/overview/OverviewPage.vue'),
  '#/licenses': () => import('./features/licenses/LicensesPage.vue'),
  '#/statistics': () =>
    Promise.all([import('./features/statistics/StatisticsPage.vue'), import('./components/LinePlot.vue')]),
};

const hasCode = new URLSearchParams(location.search).has('code');
// Most page loads follow an earlier sign-in. A page in the background opens no stream.
if (!hasCode && !document.hidden) beginOpening(openingCalls(location.hash));
void import('./main.ts');
SCREENS[screenAddress(location.hash)]?.().catch(() => {});
preloadFonts();
// The first formatter makes the browser read its data about languages: while it waits for code, not for the first figure.
void Intl.NumberFormat(document.documentElement.lang);
