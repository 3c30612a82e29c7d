// Heartbeats extend leases without a live update, because there are too many. So the ends are read again from time to
// time while they are shown.
import { onScopeDispose } from 'vue';

const EVERY_MS = 30_000;

export function useLeaseEndPolling(reload: () => unknown): void {
  const timer = setInterval(() => {
    if (!document.hidden) reload();
  }, EVERY_MS);
  onScopeDispose(() => clearInterval(timer));
}
