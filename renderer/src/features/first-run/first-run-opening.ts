// The first steps open by themselves on a new installation, once in the life of the page.
import { onMounted } from 'vue';
import { useRouter } from 'vue-router';
import { adminClient } from '../../api/admin-client.ts';
import { isFileWaiting } from '../air-gap/opened-files.ts';

let wasOffered = false;

/** For the screen that people land on: whoever followed a link to another one is not led away from it. */
export function useFirstRunOpening(): void {
  const router = useRouter();
  onMounted(async () => {
    if (wasOffered) return;
    // Without an answer there is nothing to open; the banner says why.
    const state = await adminClient.showFirstRun({}).catch(() => null);
    // A file that was opened with the app is on its way to its own screen.
    if (!state || isFileWaiting()) return;
    wasOffered = true;
    if (state.needed && router.currentRoute.value.name === 'overview')
      await router.replace({ name: 'first-run' });
  });
}
