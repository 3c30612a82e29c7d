// A call that a person makes: whether it is under way, and why it failed.
import { useAttempt } from './attempt.ts';
import { asCallFailure } from './call-failure.ts';

/**
 * @param work the call; what changes on the server shows by itself wherever it is on screen
 * @returns `run` gives back undefined if it failed, and does nothing while it is under way
 */
export function useCall<Arguments extends unknown[], Result>(work: (...given: Arguments) => Promise<Result>) {
  const attempt = useAttempt(work, asCallFailure);

  /** For `aria-invalid` of a field: whether the service said that something is wrong with it. */
  const refuses = (path: string): true | undefined =>
    attempt.failure.value?.details.some((detail) => detail.path === path) || undefined;

  return { ...attempt, refuses };
}
