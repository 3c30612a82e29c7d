// State of a user action: whether it is running, and why it failed.
import { ref, shallowRef } from 'vue';

/**
 * @param explain turns the thrown error into what is shown
 * @returns `run` resolves to undefined on failure, and does nothing while a run is in progress
 */
export function useAttempt<Arguments extends unknown[], Result, Failure>(
  work: (...given: Arguments) => Promise<Result>,
  explain: (error: unknown) => Failure,
) {
  const busy = ref(false);
  const failure = shallowRef<Failure | null>(null);

  async function run(...given: Arguments): Promise<Result | undefined> {
    if (busy.value) return undefined;
    busy.value = true;
    failure.value = null;
    try {
      return await work(...given);
    } catch (error) {
      failure.value = explain(error);
      return undefined;
    } finally {
      busy.value = false;
    }
  }

  return { busy, failure, run };
}
