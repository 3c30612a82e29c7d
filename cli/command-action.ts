// What stands between commander and a command's own lines: getting the service, printing the outcome.
import type { Command } from 'commander';
import type { AdminAccess } from '#server/process/admin-access.ts';
import { osUserName } from '#server/platform/os-user.ts';
import { printOutcome, type Outcome } from './command-output.ts';
import { configOf } from './setting-options.ts';

/** What commander calls: the arguments, then the options, then the command. */
type Action = (...passed: unknown[]) => Promise<void>;

type AdminClient = AdminAccess['client'];

/** An action that prints what `work` returns; `work` receives all that commander passes. */
export function printing<Passed extends unknown[]>(
  work: (...passed: Passed) => Outcome | Promise<Outcome>,
): Action {
  return async (...passed) => {
    const command = passed.at(-1) as Command;
    printOutcome(await work(...(passed as Passed)), wantsJson(command));
  };
}

/** An action that is one call of the service; `read` is how its reply reads as text. */
export function calling<Passed extends unknown[], Reply extends object>(
  call: (client: AdminClient, ...passed: Passed) => Promise<Reply>,
  read: (reply: Reply) => string,
): Action {
  return printing(async (...passed) => {
    const reply = await withService(passed.at(-1) as Command, (client) =>
      call(client, ...(passed as Passed)),
    );
    return { reply, text: read(reply) };
  });
}

/** Lets `work` use the service, through a running server or on the database itself, and closes it in any case. */
export async function withService<Result>(
  command: Command,
  work: (client: AdminClient, access: AdminAccess) => Promise<Result>,
): Promise<Result> {
  const config = configOf(command);
  // Not at the top: it brings the database libraries along, which commands without a service start faster without.
  const { connectToAdmin } = await import('#server/process/admin-access.ts');
  const access = await connectToAdmin(config, osUserName());
  try {
    return await work(access.client, access);
  } finally {
    await access.close();
  }
}

function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json ?? false;
}
