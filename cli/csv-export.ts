// Commands that write a list to a CSV file.
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { printing, withService } from './command-action.ts';
import type { ServiceAccess } from './service-access.ts';
import { createSecretFile } from './text-file.ts';

/**
 * @param command gets `--out` and an action
 * @param what is written, as the first word of the message
 */
export function exportsCsv<Filter extends object>(
  command: Command,
  what: string,
  download: (access: ServiceAccess, filter: Filter) => ReturnType<ServiceAccess['download']>,
): void {
  command.requiredOption('--out <file>', 'new file to write, readable only by you').action(
    printing(async ({ out, ...filter }: { out: string }, self: Command) => {
      const file = await createSecretFile(out);
      try {
        await withService(self, async (_client, access) =>
          file.finish(await download(access, filter as Filter)),
        );
      } catch (error) {
        await file.discard();
        throw error;
      }
      const { size: bytes } = await stat(out);
      return { reply: { file: out, bytes }, text: `${what} written to ${out} (${bytes} bytes).` };
    }),
  );
}
