// Applies one change to many licenses, each separately and through the same service calls.
import type { Call } from '#server/platform/call.ts';
import type { ApiError } from '#server/wire/errors.ts';
import type { BulkReply } from './license-contract.ts';
import type { LicenseService } from './license-service.ts';

interface Needs {
  licenses: Pick<LicenseService, 'renew' | 'revoke'>;
  /** The failure as shown to the caller. An unexpected one is logged. */
  describeFailure(error: unknown, call: Call): ApiError;
}

export function createLicenseBulk({ licenses, describeFailure }: Needs) {
  /** One license can fail without affecting the others. The reply has the outcome of each. */
  async function changeEach(
    ids: readonly number[],
    call: Call,
    change: (id: number) => Promise<unknown>,
  ): Promise<BulkReply> {
    const reply: BulkReply = { done: [], failed: [] };
    for (const id of new Set(ids)) {
      try {
        await change(id);
        reply.done.push(id);
      } catch (error) {
        const { code, message } = describeFailure(error, call);
        reply.failed.push({ license_id: id, error_code: code, message });
      }
    }
    return reply;
  }

  return {
    renew: (ids: readonly number[], days: number | undefined, call: Call) =>
      changeEach(ids, call, (id) => licenses.renew({ id }, { days }, call)),
    revoke: (ids: readonly number[], reason: string | undefined, call: Call) =>
      changeEach(ids, call, (id) => licenses.revoke({ id }, reason, call)),
  };
}

export type LicenseBulk = ReturnType<typeof createLicenseBulk>;
