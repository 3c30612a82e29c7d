// Calls the server that runs as a service. Loaded only where there is one: the contract takes its time.
import type { ServerStatus } from '#server/features/overview/server-status.ts';
import { ADMIN_API_ROOT, adminContract } from '#server/contract.ts';
import { isDirectoryLocked } from '#server/database/directory-lock.ts';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { osUserName } from '#server/platform/os-user.ts';
import { createClient, httpTransport } from '#server/wire/client.ts';
import { ApiError } from '#server/wire/errors.ts';

export interface ResidentClient {
  /** Changes when the server was restarted. */
  id: string;
  api: string;
  /** @returns the address of the back office with a one-time code */
  createSignInAddress(): Promise<string>;
  /** @throws if it does not answer */
  readStatus(): Promise<ServerStatus>;
}

/** @returns null if no server has announced itself in this data directory, or only a file of a dead one is left */
export async function connectToResident(dataDir: string): Promise<ResidentClient | null> {
  const runtime = readRuntimeFile(dataDir);
  // Another program may listen on the port of a dead server by now, and its pages would have the bridge.
  if (runtime === null || !(await isDirectoryLocked(dataDir))) return null;
  const headers = {
    authorization: `Bearer ${runtime.secret}`,
    'x-license-desk-user': encodeURIComponent(osUserName()),
  };
  const client = createClient(adminContract, httpTransport(runtime.admin + ADMIN_API_ROOT, headers));
  try {
    await client.serverInfo({});
  } catch {
    return null;
  }

  let counts: Omit<ServerStatus, 'health'> = { failed_deliveries: 0, ending_soon: 0 };

  async function readStatus(): Promise<ServerStatus> {
    try {
      await client.health({});
      const { failed_deliveries, expiring } = await client.overview({});
      counts = { failed_deliveries, ending_soon: expiring.days_7 };
      return { health: 'ok', ...counts };
    } catch (error) {
      // The server answered with an error. Keep the last known counts.
      if (error instanceof ApiError) return { health: 'failing', ...counts };
      throw error;
    }
  }

  return {
    id: runtime.secret,
    api: runtime.api,
    createSignInAddress: async () => (await client.createSignInCode({})).address,
    readStatus,
  };
}
