import type { Command } from 'commander';
import { printing, withService } from '../command-action.ts';
import { wholeNumber } from '../option-values.ts';
import { readTextFile, STANDARD_STREAM, writeTextFile } from '../text-file.ts';
import { block, instant } from '../text-layout.ts';

interface ActivateOptions {
  request: string;
  out: string;
  ttlDays?: number;
  encrypt?: true;
}

export function addActivateOffline(program: Command): void {
  program
    .command('activate-offline')
    .description('on the license server: activate a machine from its request and write its license file')
    .requiredOption('--request <file>', 'the request of the machine, as a file or its short line; - is stdin')
    .requiredOption('--out <file>', 'where to write the license file; - is stdout')
    .option('--ttl-days <n>', 'how long the file is good (default: as long as the license)', wholeNumber(1))
    .option('--encrypt', 'so that only its license key and machine open it')
    .action(
      printing(async ({ request: path, out, ttlDays, encrypt }: ActivateOptions, command: Command) => {
        const request = await readTextFile(path);
        const reply = await withService(command, (client) =>
          client.activateOffline({ request, ttl_days: ttlDays, encrypt }),
        );
        // The activation stands if this fails; the same request again gets the same one back.
        if (out !== STANDARD_STREAM) await writeTextFile(out, reply.license_file);
        const { license, activation, license_file: licenseFile } = reply;
        const facts = block([
          ['License file', out],
          ['License key', license.license_key],
          ['Holder', license.holder],
          ['Machine', activation.machine_name],
          ['Fingerprint', activation.machine_fingerprint],
          ['Expires', instant(license.expires_at)],
        ]);
        return { reply, text: out === STANDARD_STREAM ? licenseFile : facts };
      }),
    );
}
