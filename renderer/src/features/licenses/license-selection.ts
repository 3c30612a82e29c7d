// Which licenses of the list are selected: rows, or everything that matches the filter.
import { computed, shallowRef, watch } from 'vue';
import type { ListedLicense } from '#server/features/licenses/license-contract.ts';
import type { Matching } from './bulk-selection.ts';
import type { LicenseFilter } from './license-filters.ts';

type Keys = ReadonlySet<string | number>;

interface Needs {
  /** The rows that are loaded. */
  items: () => readonly ListedLicense[];
  filter: () => LicenseFilter;
}

export function useLicenseSelection({ items, filter }: Needs) {
  const keys = shallowRef<Keys>(new Set());
  /** What the filter matched when all of it was selected; null if only rows are. Only the user changes that. */
  const all = shallowRef<Matching | null>(null);

  function select(chosen: Keys): void {
    keys.value = chosen;
    all.value = null;
  }

  // Rows that load later are part of it. Licenses that were issued since are not.
  watch([items, all], ([loaded, matching]) => {
    if (matching === null) return;
    const known = loaded.filter(({ license_id: id }) => id <= matching.newestId);
    keys.value = new Set([...keys.value, ...known.map(({ license_id: id }) => id)]);
  });
  // Bulk changes must not affect licenses that are not listed.
  watch(
    () => JSON.stringify(filter()),
    () => select(new Set()),
  );

  return {
    keys,
    all,
    licenses: computed(() => items().filter(({ license_id: id }) => keys.value.has(id))),
    select,
    /** With none, as after Cancel, everything that matches stays selected. */
    deselect(ids: readonly number[]): void {
      if (ids.length > 0) select(new Set([...keys.value].filter((id) => !ids.includes(Number(id)))));
    },
  };
}
