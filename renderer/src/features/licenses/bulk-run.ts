// Changes many licenses in batches of a hundred, with progress and a stop button.
import { onScopeDispose, ref, shallowRef } from 'vue';
import type { BulkReply } from '#server/features/licenses/license-contract.ts';
import { asCallFailure, type CallFailure } from '../../api/call-failure.ts';

/** The API's limit per call. */
const BATCH = 100;

export type BulkRun = ReturnType<typeof useBulkRun>;

export function useBulkRun() {
  const state = ref<'ready' | 'running' | 'over'>('ready');
  const total = ref(0);
  const done = shallowRef<readonly number[]>([]);
  const failed = shallowRef<BulkReply['failed']>([]);
  /** A failed call ends the run, because it is unknown which of its licenses were changed. */
  const failure = shallowRef<CallFailure | null>(null);
  const stopped = ref(false);

  /** @param work changes up to a hundred licenses */
  async function run(ids: readonly number[], work: (batch: number[]) => Promise<BulkReply>): Promise<void> {
    state.value = 'running';
    total.value = ids.length;
    try {
      for (let from = 0; from < ids.length && !stopped.value; from += BATCH) {
        const reply = await work(ids.slice(from, from + BATCH));
        done.value = [...done.value, ...reply.done];
        failed.value = [...failed.value, ...reply.failed];
      }
    } catch (error) {
      failure.value = asCallFailure(error);
    } finally {
      state.value = 'over';
    }
  }

  /** Waits for the running batch and starts no other. */
  function stop(): void {
    stopped.value = true;
  }
  onScopeDispose(stop);

  return { state, total, done, failed, failure, stopped, run, stop };
}
