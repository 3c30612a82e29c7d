// The pool of one floating license.
import { useQuery } from '@pinia/colada';
import { computed } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { failureOf } from '../../api/query-failure.ts';

/** @param isWanted whether the license is floating; others have no pool */
export function usePool(licenseId: () => number, isWanted: () => boolean = () => true) {
  const query = useQuery({
    key: () => ['leases', 'pool', String(licenseId())],
    query: () => adminClient.listLeasePools({ license: String(licenseId()) }),
    enabled: isWanted,
  });
  return {
    item: computed(() => query.data.value?.items[0]),
    failure: failureOf(query),
  };
}
