// The devices that a license is in use on, for whatever lets one be chosen.
import { useQuery } from '@pinia/colada';
import { computed, type ComputedRef } from 'vue';
import type { DeviceObject } from '#server/features/activations/activation-contract.ts';
import { adminClient } from '../../api/admin-client.ts';

/** The most that a page of them holds; who has more devices than that names one by its fingerprint. */
const MOST_DEVICES = 500;

export function useActiveDevices(licenseId: () => number): ComputedRef<readonly DeviceObject[]> {
  const query = useQuery({
    key: () => ['devices', 'active', String(licenseId())],
    query: () => adminClient.listDevices({ ref: String(licenseId()), limit: MOST_DEVICES }),
  });
  return computed(
    () => query.data.value?.items.filter(({ released_at: released }) => released === null) ?? [],
  );
}
