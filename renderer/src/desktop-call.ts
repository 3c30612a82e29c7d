// A call that a person makes of the shell: whether it is under way, and why it failed.
import { ref } from 'vue';

/** What Electron puts before the reason that the shell gave. */
const WRAPPING = /^Error invoking remote method '[^']*': (?:\w*Error: )?/u;

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(WRAPPING, '');
}

/** @returns `run` gives back undefined if it failed, and does nothing while it is under way */
export function useDesktopCall<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Promise<Result>,
) {
  const busy = ref(false);
  const problem = ref('');

  async function run(...given: Arguments): Promise<Result | undefined> {
    if (busy.value) return undefined;
    busy.value = true;
    problem.value = '';
    try {
      return await work(...given);
    } catch (error) {
      problem.value = reasonOf(error);
      return undefined;
    } finally {
      busy.value = false;
    }
  }

  return { busy, problem, run };
}
