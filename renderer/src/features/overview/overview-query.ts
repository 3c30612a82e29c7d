// The figures of the overview. The page opens with this screen, so the request starts while its code is still
// loading.
import { defineQueryOptions, useQueryCache } from '@pinia/colada';
import { watch } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { useSession } from '../admin-session/admin-session-state.ts';

export const overviewQuery = defineQueryOptions({
  key: ['any', 'overview'],
  query: () => adminClient.overview({}),
});

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
      // If this fails, the screen fetches again and shows the error.
      queries.refresh(queries.ensure(overviewQuery)).catch(() => {});
    },
    { flush: 'sync' },
  );
}
