// The figures of the overview. The page opens with this screen, so the requests start while its code is still
// loading.
import { defineQueryOptions, useQueryCache } from '@pinia/colada';
import { watch } from 'vue';
import type { TREND_DAYS } from '#server/features/overview/overview-contract.ts';
import { adminClient } from '../../api/admin-client.ts';
import { useSession } from '../admin-session/admin-session-state.ts';

export type TrendDays = (typeof TREND_DAYS)[number];
export const TREND_METRICS = ['authorizations', 'activations', 'denied'] as const;
export type TrendMetric = (typeof TREND_METRICS)[number];

/** The period of the tiles. */
export const TILE_DAYS = 28;

export const overviewQuery = defineQueryOptions({
  key: ['any', 'overview'],
  query: () => adminClient.overview({}),
});

export const trendQuery = defineQueryOptions((days: TrendDays) => ({
  key: ['any', 'overview-trend', days],
  query: () => adminClient.overviewTrend({ days }),
}));

/** As soon as a user is signed in. */
export function askForOverview(): void {
  const session = useSession();
  const queries = useQueryCache();
  const { stop } = watch(
    () => session.phase,
    (phase) => {
      if (phase === 'opening') return;
      stop();
      if (phase === 'signed_out') return;
      // If these fail, the screen fetches again and shows the error.
      queries.refresh(queries.ensure(overviewQuery)).catch(() => {});
      queries.refresh(queries.ensure(trendQuery(TILE_DAYS))).catch(() => {});
    },
    { flush: 'sync' },
  );
}
