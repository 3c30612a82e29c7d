// Why a query failed, as the page shows it.
import { computed, type ComputedRef, type Ref } from 'vue';
import { asCallFailure, type CallFailure } from './call-failure.ts';

/** @returns null while the query has not failed */
export const failureOf = ({ error }: { error: Readonly<Ref<unknown>> }): ComputedRef<CallFailure | null> =>
  computed(() => (error.value ? asCallFailure(error.value) : null));
