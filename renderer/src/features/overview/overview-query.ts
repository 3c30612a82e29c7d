// The figures of the overview. It is the screen that the page opens with, so they are on their way already while its
// code is loaded and the page is put together.
import { defineQueryOptions, useQueryCache } from '@pinia/colada';
import { watch } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { useSession } from '../admin-session/admin-session-state.ts';

export const overviewQuery = defineQueryOptions({
  key: ['any', 'overview'],
  query: () => adminClient.overview({}),
});

/** As soon as somebody is signed in. */
export function askForOverview(): void {
  const session = useSession();
  const queries = useQueryCache();
  const { stop } = watch(
    () => session.phase,
    (phase) => {
      if (phase === 'opening') return;
      stop();
      if (phase === 'signed_out') return;
      // The screen asks again if that failed, and says so.
      queries.refresh(queries.ensure(overviewQuery)).catch(() => {});
    },
    { flush: 'sync' },
  );
}
