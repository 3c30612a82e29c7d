// The active devices of a license, for pickers.
import { useQuery } from '@pinia/colada';
import { computed, type ComputedRef } from 'vue';
import type { DeviceObject } from '#server/features/activations/activation-contract.ts';
import { adminClient } from '../../api/admin-client.ts';

/** The maximum page size. For a license with more devices, the fingerprint can be entered instead. */
const MAX_DEVICES = 500;

export function useActiveDevices(licenseId: () => number): ComputedRef<readonly DeviceObject[]> {
  const query = useQuery({
    key: () => ['devices', 'active', String(licenseId())],
    query: () => adminClient.listDevices({ ref: String(licenseId()), limit: MAX_DEVICES }),
  });
  return computed(
    () => query.data.value?.items.filter(({ released_at: released }) => released === null) ?? [],
  );
}
