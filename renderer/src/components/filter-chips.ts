// The active filters of a list, as its chips show them.
import { computed, type ComputedRef } from 'vue';
import type { AddressFilters } from '../address-filters.ts';

export interface FilterChip {
  /** The query parameter. */
  name: string;
  label: string;
  text: string;
  /** What its button is called, and what it has done, where it does not remove a filter. */
  removal?: { action: string; done: string };
}

export interface ActiveFilters {
  chips: readonly FilterChip[];
  remove: (names: readonly string[]) => void;
}

interface Description {
  label: string;
  /** Empty for a value that does not filter, such as an unknown one in a hand-edited URL. */
  text: string;
}

/** @param describe what the filters mean; those it leaves out have a control that shows them, such as a search box */
export function useActiveFilters<Name extends string>(
  { values, set }: Pick<AddressFilters<Name>, 'values' | 'set'>,
  describe: (values: Readonly<Record<Name, string>>) => Partial<Record<Name, Description>>,
): ComputedRef<ActiveFilters> {
  return computed(() => {
    const described = Object.entries<Description | undefined>(describe(values.value));
    const chips = described.flatMap(([name, description]) =>
      description && values.value[name as Name] !== '' && description.text !== ''
        ? [{ name, ...description }]
        : [],
    );
    return {
      chips,
      remove: (names) =>
        set(Object.fromEntries(names.map((name) => [name, ''])) as Partial<Record<Name, string>>),
    };
  });
}
