// What forms call the fields that the server refused, so that the failure note calls them the same.
import { reactive } from 'vue';

const names = reactive(new Map<string, string>());

/** @param reasonId the ID of what says why */
export function nameRefused(reasonId: string, control: HTMLElement | null): void {
  const label = (control as HTMLInputElement | null)?.labels?.[0]?.textContent.trim();
  if (label) names.set(reasonId, label);
}

export const forgetRefused = (reasonId: string) => names.delete(reasonId);

/** @returns undefined if no field on the screen is refused for this reason */
export const refusedName = (reasonId: string) => names.get(reasonId);
