// The devices of a license to the last page, as paper cannot be asked for more.
import { useQuery } from '@pinia/colada';
import type { DeviceObject } from '#server/features/activations/activation-contract.ts';
import { adminClient } from '../../api/admin-client.ts';

export interface AllDevices {
  devices: readonly DeviceObject[];
  /** Whether there are more than anybody would print. */
  isCut: boolean;
}

/** The most that the service gives at once. */
const PAGE_SIZE = 500;
/** More than two hundred sheets of paper. */
const MOST_DEVICES = 5000;

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
  } while (cursor !== null && devices.length < MOST_DEVICES && !signal.aborted);
  return { devices, isCut: cursor !== null };
}

/** @param ref the license's id or key */
export function useAllDevices(ref: () => string) {
  return useQuery({
    key: () => ['devices', 'all', ref()],
    query: ({ signal }) => readAll(ref(), signal),
  });
}
