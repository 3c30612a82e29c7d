// Commands that write a list to a CSV file.
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { printing, withService } from './command-action.ts';
import { usageFailure } from './command-failure.ts';
import { writeStdout } from './command-output.ts';
import { selectedField, wantsJson } from './output-form.ts';
import type { ServiceAccess } from './service-access.ts';
import { createSecretFile, STANDARD_STREAM } from './text-file.ts';

type Download<Filter> = (access: ServiceAccess, filter: Filter) => ReturnType<ServiceAccess['download']>;

/**
 * @param command gets `--out` and an action
 * @param what is written, as the first word of the message
 */
export function exportsCsv<Filter extends object>(
  command: Command,
  what: string,
  download: Download<Filter>,
): void {
  const toFile = printing(async ({ out, ...filter }: { out: string }, self: Command) => {
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
  });
  command
    .requiredOption('--out <file>', 'new file to write, readable only by you; - is stdout')
    .action(async (options: { out: string }, self: Command) => {
      const { out, ...filter } = options;
      if (out !== STANDARD_STREAM) return toFile(options, self);
      if (wantsJson(self) || selectedField(self) !== null)
        throw usageFailure('--out - cannot be used with --json or --output');
      return withService(self, async (_client, access) => print(await download(access, filter as Filter)));
    });
}

async function print(parts: AsyncIterable<string | Uint8Array>): Promise<void> {
  for await (const part of parts) if (!(await writeStdout(part))) return;
}
