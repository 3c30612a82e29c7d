// Shows administrators which calls were denied.
import { cursorOf, NUMBER } from '#server/database/cursor.ts';
import { toPage } from '#server/database/page.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { byRef, requireLicense } from '#server/rules/license-reference.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { deniedCallAdminContract, DeniedCallObject } from './denied-call-contract.ts';
import type { DeniedCallLog } from './denied-call-log.ts';
import type { DeniedCallStore, ListedDeniedCall } from './denied-call-store.ts';

const CURSOR = cursorOf({ lastAt: NUMBER, id: NUMBER });

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  store: Pick<DeniedCallStore, 'list' | 'countOf'>;
  log: Pick<DeniedCallLog, 'flush'>;
  clock: Clock;
}

function toDeniedCallObject(row: ListedDeniedCall): DeniedCallObject {
  return {
    id: row.id,
    license_id: row.licenseId,
    license_key: row.licenseKey,
    holder: row.holder,
    call: row.call,
    error_code: row.errorCode,
    machine_fingerprint: row.machineFingerprint || null,
    product_slug: row.product || null,
    feature: row.feature || null,
    address: row.address || null,
    count: row.count,
    first_at: toTimestamp(row.firstAt),
    last_at: toTimestamp(row.lastAt),
  };
}

export function createDeniedCallService({ licenses, store, log, clock }: Needs) {
  return {
    async list(request: RequestOf<typeof deniedCallAdminContract.listDeniedCalls>) {
      const { license: reference, error_code: errorCode, from, limit, cursor } = request;
      const license = reference === undefined ? null : requireLicense(await licenses.find(byRef(reference)));
      const position = CURSOR.read(cursor);
      // A call that was just denied is the one that people ask about.
      await log.flush();
      const rows = await store.list({ licenseId: license?.id, errorCode, from }, position, limit);
      return toPage(rows, limit, toDeniedCallObject, CURSOR.write);
    },

    /** On this UTC day. */
    countToday: () => store.countOf(toTimestamp(clock.now()).slice(0, 10)),
  };
}

export type DeniedCallService = ReturnType<typeof createDeniedCallService>;
