// What commands do, without a process for each: for all that a test of commands needs to be there already.
import { type AdminAccess, connectToAdmin } from '#server/process/admin-access.ts';
import { loadConfig } from '#server/platform/config.ts';

type Admin = AdminAccess['client'];
/** A license as it is asked for. */
export type CreateLicense = Parameters<Admin['createLicense']>[0];

/** Through the server that runs on the data directory, or on its database. */
export async function asCommand<Result>(
  dataDir: string,
  work: (admin: Admin) => Promise<Result>,
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const access = await connectToAdmin(loadConfig({ flags: { 'data-dir': dataDir }, env }), 'tester');
  try {
    return await work(access.client);
  } finally {
    await access.close();
  }
}
