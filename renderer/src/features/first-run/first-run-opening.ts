// Opens the initial setup once per page load on a new installation.
import { onMounted, onUnmounted } from 'vue';
import { useRouter } from 'vue-router';
import { adminClient } from '../../api/admin-client.ts';
import { isFileWaiting } from '../air-gap/opened-files.ts';

let wasOffered = false;

/** For the overview only: a link to another screen must not be redirected. */
export function useFirstRunOpening(): void {
  const router = useRouter();
  /** The user asked for another screen, whose code may still be loading. */
  let isLeaving = false;
  onUnmounted(
    router.beforeEach(({ name }) => {
      isLeaving = name !== 'overview';
    }),
  );
  onMounted(async () => {
    if (wasOffered) return;
    // Without a response there is nothing to open; the banner shows the reason.
    const state = await adminClient.showFirstRun({}).catch(() => null);
    // A file opened with the app goes to its own screen.
    if (!state || isFileWaiting()) return;
    wasOffered = true;
    if (state.needed && !isLeaving) await router.replace({ name: 'first-run' });
  });
}
