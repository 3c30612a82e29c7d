// State of a call to the shell: whether it is running, and why it failed.
import { computed } from 'vue';
import { useAttempt } from './api/attempt.ts';

/** Electron adds this before the shell's own message. */
const WRAPPING = /^Error invoking remote method '[^']*': (?:\w*Error: )?/u;

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(WRAPPING, '');
}

/** @returns `run` resolves to undefined on failure, and does nothing while a run is in progress */
export function useDesktopCall<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Promise<Result>,
) {
  const { busy, failure, run } = useAttempt(work, reasonOf);
  return { busy, problem: computed(() => failure.value ?? ''), run };
}
