// Loads all devices of a license, because paper cannot load more.
import { useQuery } from '@pinia/colada';
import type { DeviceObject } from '#server/features/activations/activation-contract.ts';
import { adminClient } from '../../api/admin-client.ts';

export interface AllDevices {
  devices: readonly DeviceObject[];
  /** Whether the list was cut at the limit. */
  isCut: boolean;
}

/** The maximum page size. */
const PAGE_SIZE = 500;
/** More than two hundred printed pages. */
const MAX_DEVICES = 5000;

async function readAll(ref: string, signal: AbortSignal): Promise<AllDevices> {
  const devices: DeviceObject[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof adminClient.listDevices>> = await adminClient.listDevices({
      ref,
      limit: PAGE_SIZE,
      ...(cursor ? { cursor } : {}),
    });
    devices.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && devices.length < MAX_DEVICES && !signal.aborted);
  return { devices, isCut: cursor !== null };
}

/** @param ref the license's ID or key */
export function useAllDevices(ref: () => string) {
  return useQuery({
    key: () => ['devices', 'all', ref()],
    query: ({ signal }) => readAll(ref(), signal),
  });
}
