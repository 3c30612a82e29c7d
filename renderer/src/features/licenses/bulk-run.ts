// A change of many licenses, a hundred at a time, so that it can be watched and stopped.
import { onScopeDispose, ref, shallowRef } from 'vue';
import type { BulkReply } from '#server/features/licenses/license-contract.ts';
import { asCallFailure, type CallFailure } from '../../api/call-failure.ts';

/** The most that one call takes. */
const BATCH = 100;

export type BulkRun = ReturnType<typeof useBulkRun>;

export function useBulkRun() {
  const state = ref<'ready' | 'running' | 'over'>('ready');
  const total = ref(0);
  const done = shallowRef<readonly number[]>([]);
  const failed = shallowRef<BulkReply['failed']>([]);
  /** A call without a good answer ends it: nobody knows which of its licenses were changed. */
  const failure = shallowRef<CallFailure | null>(null);
  const stopped = ref(false);

  /** @param work changes up to a hundred */
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

  /** What is under way is waited for; nothing after it is begun. */
  function stop(): void {
    stopped.value = true;
  }
  onScopeDispose(stop);

  return { state, total, done, failed, failure, stopped, run, stop };
}
