// The licenses that the table shows: newest first, page after page.
import { defineStore } from 'pinia';
import { computed, ref, shallowRef } from 'vue';
import type { LicenseRecord } from '../../../../server/licenses/license-contract.ts';
import { adminClient } from '../../api/admin-client.ts';
import { asCallFailure, type CallFailure } from '../../api/call-failure.ts';
import type { LicenseState } from './license-state.ts';

export interface LicenseFilter {
  search: string;
  state: LicenseState | undefined;
}

export const useLicenseList = defineStore('license-list', () => {
  const items = shallowRef<LicenseRecord[]>([]);
  const nextCursor = ref<string | null>(null);
  const loading = ref(false);
  /** The first page was answered. */
  const loaded = ref(false);
  const failure = shallowRef<CallFailure | null>(null);
  let filter: LicenseFilter = { search: '', state: undefined };
  /** Tells the answer that was asked for last from those that come late. */
  let newest = 0;

  async function fetchPage(cursor: string | null): Promise<void> {
    newest += 1;
    const mine = newest;
    loading.value = true;
    try {
      const page = await adminClient.listLicenses({
        ...(filter.search ? { search: filter.search } : {}),
        ...(filter.state ? { state: filter.state } : {}),
        ...(cursor === null ? {} : { cursor }),
      });
      if (mine !== newest) return;
      items.value = cursor === null ? page.items : [...items.value, ...page.items];
      nextCursor.value = page.next_cursor;
      failure.value = null;
      loaded.value = true;
    } catch (error) {
      if (mine === newest) failure.value = asCallFailure(error);
    } finally {
      if (mine === newest) loading.value = false;
    }
  }

  return {
    items: computed(() => items.value),
    loading: computed(() => loading.value),
    loaded: computed(() => loaded.value),
    failure: computed(() => failure.value),
    hasMore: computed(() => nextCursor.value !== null),

    async show(wanted: LicenseFilter): Promise<void> {
      filter = wanted;
      await fetchPage(null);
    },
    reload: () => fetchPage(null),
    async loadMore(): Promise<void> {
      if (nextCursor.value !== null && !loading.value) await fetchPage(nextCursor.value);
    },
  };
});
