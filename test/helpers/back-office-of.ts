// The back office of the server that runs on a data directory, as the CLI finds and calls it.
import { ADMIN_API_ROOT, adminContract } from '#server/contract.ts';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { type Client, createClient, httpTransport } from '#server/wire/client.ts';

export interface BackOffice {
  /** `http://127.0.0.1:PORT` */
  adminOrigin: string;
  /** The CLI's credential. */
  runtimeSecret: string;
  /** Headers with that credential. */
  credentials: Record<string, string>;
  /** The typed client, as the CLI has it. */
  admin: Client<typeof adminContract>;
}

export function backOfficeOf(dataDir: string): BackOffice {
  const runtime = readRuntimeFile(dataDir);
  if (!runtime) throw new Error('the server left no runtime file');
  const credentials = { authorization: `Bearer ${runtime.secret}`, 'x-license-desk-user': 'tester' };
  return {
    adminOrigin: runtime.admin,
    runtimeSecret: runtime.secret,
    credentials,
    admin: createClient(adminContract, httpTransport(runtime.admin + ADMIN_API_ROOT, credentials)),
  };
}
