// Remembers, for all administrators and browsers, that the first steps are finished.
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { FirstRunStore } from './first-run-store.ts';

interface Needs {
  firstRun: FirstRunStore;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

export function createFirstRunService({ firstRun, audit, transaction, clock }: Needs) {
  return {
    show: async () => ({ needed: !(await firstRun.isOver()) }),

    /** Repeating it succeeds and keeps the first time. */
    async finish(skipped: boolean, call: Call) {
      await transaction(async () => {
        if (await firstRun.finish(clock.now()))
          await audit.record(call, 'first_run.finished', 'first_run', null, { skipped });
      });
      return { needed: false };
    },
  };
}

export type FirstRunService = ReturnType<typeof createFirstRunService>;
