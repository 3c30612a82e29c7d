// A call that a person makes: whether it is under way, and why it failed.
import { ref, shallowRef } from 'vue';
import { asCallFailure, type CallFailure } from './call-failure.ts';

/**
 * @param work the call; what changes on the server shows by itself wherever it is on screen
 * @returns `run` gives back undefined if it failed, and does nothing while it is under way
 */
export function useCall<Arguments extends unknown[], Result>(work: (...given: Arguments) => Promise<Result>) {
  const busy = ref(false);
  const failure = shallowRef<CallFailure | null>(null);

  async function run(...given: Arguments): Promise<Result | undefined> {
    if (busy.value) return undefined;
    busy.value = true;
    failure.value = null;
    try {
      return await work(...given);
    } catch (error) {
      failure.value = asCallFailure(error);
      return undefined;
    } finally {
      busy.value = false;
    }
  }

  /** For `aria-invalid` of a field: whether the service said that something is wrong with it. */
  const refuses = (path: string): true | undefined =>
    failure.value?.details.some((detail) => detail.path === path) || undefined;

  return { busy, failure, run, refuses };
}
