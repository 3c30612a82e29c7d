// The choice of the license that a view is about.
import { ref } from 'vue';

/** @param set puts the license into the URL; empty for none */
export function useLicenseChoice(set: (license: string) => void) {
  const isFilterRemoved = ref(false);
  function chooseLicense(chosen: string): void {
    isFilterRemoved.value = chosen === '';
    set(chosen);
  }
  return { isFilterRemoved, chooseLicense };
}
