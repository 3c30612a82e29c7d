// State of an API call that a user starts: whether it is running, and why it failed.
import { useAttempt } from './attempt.ts';
import { asCallFailure, refusalOf } from './call-failure.ts';

/**
 * @param work the call; live updates show what it changes on the server
 * @returns `run` resolves to undefined on failure, and does nothing while a run is in progress
 */
export function useCall<Arguments extends unknown[], Result>(work: (...given: Arguments) => Promise<Result>) {
  const attempt = useAttempt(work, asCallFailure);

  /** For `refused` of a field. */
  const refuses = (field: string) => refusalOf(attempt.failure.value, (path) => path === field);

  return { ...attempt, refuses };
}
