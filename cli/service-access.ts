// The service for one command: its requests are checked first, and the connection is made at the first call.
import type { Command } from 'commander';
import type { AdminAccess } from '#server/process/admin-access.ts';
import { osUserName } from '#server/platform/os-user.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';
import { commandIo } from './command-io.ts';
import { requireDataDirectory } from './data-directory.ts';
import { selectedField } from './output-form.ts';
import { namedByOption, refuseBadRequest } from './request-check.ts';
import { configOf } from './setting-options.ts';

type RowName = keyof AdminAccess['client'];

/** What can be the first step of an installation; every other call needs a data directory that exists. */
const CREATES_DATA_DIRECTORY: readonly RowName[] = [
  'createLicense',
  'uploadImport',
  'createPlan',
  'createApiToken',
  'registerWebhook',
  'importAuthority',
  'updateSettings',
];

export interface ServiceAccess extends Pick<AdminAccess, 'client' | 'download' | 'close'> {
  /** Whether a server runs on the data directory; known after the first call. */
  throughServer(): boolean;
}

interface AccessOptions {
  /** The command prints the reply of its call unchanged, so `--output FIELD` can be checked before the call. */
  printsReply?: boolean;
}

export async function openServiceAccess(
  command: Command,
  { printsReply = false }: AccessOptions,
): Promise<ServiceAccess> {
  const config = configOf(command);
  // Loaded only here: the database libraries slow the start of commands that do not need the service.
  const [{ connectToAdmin }, { adminContract }, { createClient }] = await Promise.all([
    import('#server/process/admin-access.ts'),
    import('#server/contract.ts'),
    import('#server/wire/client.ts'),
  ]);
  const field = printsReply ? selectedField(command) : null;
  let connecting: Promise<AdminAccess> | undefined;
  let access: AdminAccess | undefined;

  async function connect(name: RowName): Promise<AdminAccess> {
    if (!CREATES_DATA_DIRECTORY.includes(name)) requireDataDirectory(config.dataDir);
    connecting ??= connectToAdmin(config, osUserName(), () => {
      // For a person who waits, not for logs and scripts.
      const { stderr } = commandIo();
      if (stderr.isTTY === true)
        stderr.write(`Waiting for the other License Desk process on ${config.dataDir} …\n`);
    });
    access = await connecting;
    return access;
  }

  async function call<Result>(
    name: RowName,
    row: Endpoint,
    input: object,
    work: (connected: AdminAccess) => Promise<Result>,
  ): Promise<Result> {
    refuseBadRequest(command, row, input);
    if (field !== null) {
      const { refuseUnknownField } = await import('./reply-fields.ts');
      refuseUnknownField(row, field);
    }
    const connected = await connect(name);
    try {
      return await work(connected);
    } catch (error) {
      throw namedByOption(command, input, error);
    }
  }

  return {
    client: createClient(adminContract, (name, row, input) =>
      call(name as RowName, row, input, async ({ client }) => {
        const method = client[name as RowName] as (sent: object) => Promise<object>;
        return method(input);
      }),
    ),
    download: (name, input) =>
      call(name, adminContract[name], input, (connected) => connected.download(name, input)),
    throughServer: () => access?.throughServer ?? false,
    async close() {
      await access?.close();
    },
  };
}
