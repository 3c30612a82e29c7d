// Floating licenses with the seats that are in use, for administrators.
import { cursorOf, NUMBER } from '#server/database/cursor.ts';
import { toPage } from '#server/database/page.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { licenseState } from '#server/rules/license-lifecycle.ts';
import { byRef, requireLicense } from '#server/rules/license-reference.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { leaseAdminContract, PoolItem } from './lease-admin-contract.ts';
import type { ListedPool, PoolListStore } from './pool-list-store.ts';
import type { SeatPools } from './seat-pools.ts';
import { hourOf } from './usage-meter.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  list: PoolListStore;
  pools: Pick<SeatPools, 'toObject'>;
  clock: Clock;
}

const CURSOR = cursorOf({ pressure: NUMBER, id: NUMBER });

export function createPoolListService({ licenses, list, pools, clock }: Needs) {
  async function toItem(listed: ListedPool): Promise<PoolItem> {
    const { id, licenseKey, holder, product, plan, seats, overdraftSeats, denied } = listed;
    return {
      license_id: id,
      license_key: licenseKey,
      holder,
      product,
      plan,
      license_state: licenseState(listed, clock.now()),
      pool: await pools.toObject({ license: { id, terms: { seats, overdraftSeats } }, row: listed }),
      denied_24h: denied,
    };
  }

  return {
    async list(
      request: RequestOf<typeof leaseAdminContract.listLeasePools>,
    ): Promise<ReplyOf<typeof leaseAdminContract.listLeasePools>> {
      const { license: ref, search, plan, product, min_percent: minPercent, cursor, limit } = request;
      const license = ref === undefined ? null : requireLicense(await licenses.find(byRef(ref)));
      const filter = { licenseId: license?.id, search, plan, product, minPercent };
      const since = hourOf(clock.now() - DAY_MS);
      const rows = await list.list(filter, CURSOR.read(cursor), since, limit);
      const page = toPage(rows, limit, (row) => row, CURSOR.write);
      const items: PoolItem[] = [];
      for (const row of page.items) items.push(await toItem(row));
      return { items, next_cursor: page.next_cursor };
    },
  };
}

export type PoolListService = ReturnType<typeof createPoolListService>;
