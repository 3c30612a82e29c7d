// Something that a person has done: whether it is under way, and why it failed.
import { ref, shallowRef } from 'vue';

/**
 * @param explain makes of what was thrown what is shown
 * @returns `run` gives back undefined if it failed, and does nothing while it is under way
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
