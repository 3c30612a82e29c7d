// Connects commander with a command's own code: provides the service and prints the outcome.
import type { Command } from 'commander';
import type { AdminAccess } from '#server/process/admin-access.ts';
import { printOutcome, type Outcome } from './command-output.ts';
import { confirmFirst } from './confirmation.ts';
import { openServiceAccess, type ServiceAccess } from './service-access.ts';

/** What commander calls: the arguments, then the options, then the command. */
type Action = (...passed: unknown[]) => Promise<void>;

type AdminClient = AdminAccess['client'];

/** An action that prints what `work` returns; `work` receives all that commander passes. */
export function printing<Passed extends unknown[]>(
  work: (...passed: Passed) => Outcome | Promise<Outcome>,
): Action {
  return async (...passed) => {
    await printOutcome(await work(...(passed as Passed)), passed.at(-1) as Command);
  };
}

interface CallingOptions<Asked extends unknown[]> {
  /** The question to ask before a change that cannot be undone. */
  confirm?: (...passed: Asked) => string;
}

/** An action that is one call of the service. @param read turns the reply into text for people */
export function calling<Passed extends unknown[], Reply extends object, Asked extends unknown[]>(
  call: (client: AdminClient, ...passed: Passed) => Promise<Reply>,
  read: (reply: Reply) => string,
  { confirm }: CallingOptions<Asked> = {},
): Action {
  return printing(async (...passed) => {
    const command = passed.at(-1) as Command;
    if (confirm) await confirmFirst(command, confirm(...(passed as Asked)));
    const access = await openServiceAccess(command, { printsReply: true });
    try {
      const reply = await call(access.client, ...(passed as unknown as Passed));
      return { reply, text: read(reply) };
    } finally {
      await access.close();
    }
  });
}

/** Gives `work` the service, through a running server or on the database, and closes it in any case. */
export async function withService<Result>(
  command: Command,
  work: (client: AdminClient, access: ServiceAccess) => Promise<Result>,
): Promise<Result> {
  const access = await openServiceAccess(command, {});
  try {
    return await work(access.client, access);
  } finally {
    await access.close();
  }
}
