// A call that a person makes of the shell: whether it is under way, and why it failed.
import { computed } from 'vue';
import { useAttempt } from './api/attempt.ts';

/** What Electron puts before the reason that the shell gave. */
const WRAPPING = /^Error invoking remote method '[^']*': (?:\w*Error: )?/u;

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(WRAPPING, '');
}

/** @returns `run` gives back undefined if it failed, and does nothing while it is under way */
export function useDesktopCall<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Promise<Result>,
) {
  const { busy, failure, run } = useAttempt(work, reasonOf);
  return { busy, problem: computed(() => failure.value ?? ''), run };
}
