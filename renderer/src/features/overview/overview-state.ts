// The figures of the first screen.
import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import type { LicenseRecord } from '../../../../server/licenses/license-contract.ts';
import { adminClient } from '../../api/admin-client.ts';
import { asCallFailure, type CallFailure } from '../../api/call-failure.ts';

type Overview = Awaited<ReturnType<typeof adminClient.overview>>;
type Stats = Awaited<ReturnType<typeof adminClient.stats>>;

export const useOverview = defineStore('overview', () => {
  const overview = shallowRef<Overview | null>(null);
  const stats = shallowRef<Stats | null>(null);
  const unusedLicense = shallowRef<LicenseRecord | null>(null);
  const failure = shallowRef<CallFailure | null>(null);

  return {
    /** Where the API answers. */
    overview: computed(() => overview.value),
    stats: computed(() => stats.value),
    /** The newest license that was never activated, to show an activation with. */
    unusedLicense: computed(() => unusedLicense.value),
    failure: computed(() => failure.value),

    async refresh(): Promise<void> {
      try {
        const [newOverview, newStats, issued] = await Promise.all([
          adminClient.overview({}),
          adminClient.stats({}),
          adminClient.listLicenses({ state: 'issued', limit: 1 }),
        ]);
        overview.value = newOverview;
        stats.value = newStats;
        unusedLicense.value = issued.items[0] ?? null;
        failure.value = null;
      } catch (error) {
        failure.value = asCallFailure(error);
      }
    },
  };
});
