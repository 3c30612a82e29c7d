// Changes many licenses in batches of a hundred, with progress and a stop button.
import { computed, onScopeDispose, ref, shallowRef } from 'vue';
import type { BulkReply, LicenseRecord } from '#server/features/licenses/license-contract.ts';
import type { BulkSelection } from './bulk-selection.ts';
import { asCallFailure, type CallFailure, isLostReply, isWithoutReply } from '../../api/call-failure.ts';

export type BulkRun = ReturnType<typeof useBulkRun>;

function licensesOf(failed: BulkReply['failed'], batch: readonly LicenseRecord[]): LicenseRecord[] {
  const ids = new Set(failed.map(({ license_id: id }) => id));
  return batch.filter(({ license_id: id }) => ids.has(id));
}

export function useBulkRun() {
  const state = ref<'ready' | 'running' | 'over'>('ready');
  const total = ref(0);
  const done = shallowRef<readonly number[]>([]);
  const failed = shallowRef<BulkReply['failed']>([]);
  /** A failed call ends the run. */
  const failure = shallowRef<CallFailure | null>(null);
  /** Licenses whose outcome was lost: some of them may have been changed, and a second call would change them twice. */
  const unknown = shallowRef<readonly LicenseRecord[]>([]);
  /** What a second try must leave out. */
  const toDeselect = computed(() => [...done.value, ...unknown.value.map(({ license_id: id }) => id)]);
  const stopped = ref(false);
  /** Holders of the licenses that failed, by ID. */
  const holders = shallowRef<ReadonlyMap<number, string>>(new Map());

  /** @param work changes up to a hundred licenses */
  async function run(selection: BulkSelection, work: (batch: number[]) => Promise<BulkReply>): Promise<void> {
    state.value = 'running';
    total.value = selection.count;
    try {
      for await (const batch of selection.batches()) {
        if (stopped.value) break;
        const reply = await work(batch.map(({ license_id: id }) => id)).catch((error: unknown) => {
          if (isWithoutReply(error)) unknown.value = [...unknown.value, ...batch];
          throw error;
        });
        const lost = reply.failed.filter(({ error_code: code }) => isLostReply(code));
        const refused = reply.failed.filter((license) => !lost.includes(license));
        holders.value = new Map([
          ...holders.value,
          ...licensesOf(refused, batch).map(({ license_id: id, holder }): [number, string] => [id, holder]),
        ]);
        done.value = [...done.value, ...reply.done];
        failed.value = [...failed.value, ...refused];
        unknown.value = [...unknown.value, ...licensesOf(lost, batch)];
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

  return { state, total, done, failed, unknown, toDeselect, holders, failure, stopped, run, stop };
}
