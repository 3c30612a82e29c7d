// Whether a server runs on a data directory, and how it feels.
import { ADMIN_API_ROOT, adminContract } from '../server/contract.ts';
import { createClient, httpTransport } from '../server/platform/client.ts';
import { ApiError } from '../server/platform/errors.ts';
import { readRuntimeFile } from '../server/runtime-file.ts';
import type { Check } from './doctor-checks.ts';

/** No server is no failure; one that answers and is not well is. */
export async function checkServer(dataDir: string): Promise<Check> {
  const check = 'server';
  const runtime = readRuntimeFile(dataDir);
  if (runtime === null) return { check, ok: true, detail: 'none runs' };
  const headers = { authorization: `Bearer ${runtime.secret}` };
  const client = createClient(adminContract, httpTransport(runtime.admin + ADMIN_API_ROOT, headers));
  try {
    const { version, uptime_seconds: uptime } = await client.health({});
    const age = `up for ${Math.floor(uptime)} s`;
    return { check, ok: true, detail: `process ${runtime.pid}, ${age}, version ${version}, ${runtime.api}` };
  } catch (error) {
    if (error instanceof ApiError)
      return { check, ok: false, detail: `${runtime.api} answers: ${error.message}` };
    return { check, ok: true, detail: `none runs; process ${runtime.pid} did not end cleanly` };
  }
}
