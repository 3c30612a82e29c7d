// The number of licenses that a filter finds.
import { useQuery } from '@pinia/colada';
import { computed } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { formatCount } from '../../i18n/i18n.ts';
import type { LicenseFilter } from './license-filters.ts';

export function useLicenseCount(filter: () => LicenseFilter, loading: () => boolean) {
  const query = useQuery({
    key: () => ['licenses', 'count', JSON.stringify(filter())],
    query: () => adminClient.countLicenses(filter()),
    // Counting what a search finds takes longer than its first page, and the server does one after the other.
    enabled: () => !(loading() && filter().search),
  });
  return computed(() => {
    if (!query.data.value) return undefined;
    const { count, exact } = query.data.value;
    const n = formatCount(count);
    return { count, text: exact ? n : `${n}+` };
  });
}
