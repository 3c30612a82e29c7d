// Groups of users and hosts, oldest first.
import { useQuery } from '@pinia/colada';
import { computed, type ComputedRef } from 'vue';
import { type LeaseGroupObject, MAX_GROUPS } from '#server/features/lease-rules/lease-group-contract.ts';
import { adminClient } from '../../api/admin-client.ts';

/** Empty until loaded. */
export function useLeaseGroups(): ComputedRef<readonly LeaseGroupObject[]> {
  const query = useQuery({
    key: ['lease_rules', 'groups'],
    query: () => adminClient.listLeaseGroups({ limit: MAX_GROUPS }),
  });
  return computed(() => query.data.value?.items ?? []);
}
