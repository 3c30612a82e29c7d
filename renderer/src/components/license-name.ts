// The holder of a license that a list is limited to.
import { useQuery } from '@pinia/colada';
import { computed, type ComputedRef } from 'vue';
import { adminClient } from '../api/admin-client.ts';

/** @param ref the license's ID or key, or empty @returns the holder, or what is known of the license until it is loaded */
export function useLicenseName(ref: () => string): ComputedRef<string> {
  const query = useQuery({
    key: () => ['licenses', 'one', ref()],
    query: () => adminClient.showLicense({ ref: ref() }),
    enabled: () => ref() !== '',
  });
  return computed(() => (ref() && query.data.value?.license.holder) || ref());
}
