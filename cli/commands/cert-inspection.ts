import { type Command, Option } from 'commander';
import { certificateBlock } from '../certificate-text.ts';
import { calling, printing, withService } from '../command-action.ts';
import { usageFailure } from '../command-failure.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { wholeNumber } from '../option-values.ts';
import { readTextFile } from '../text-file.ts';
import { block, instant } from '../text-layout.ts';

export function addCertInspection(cert: Command): void {
  cert
    .command('show')
    .description('show one certificate')
    .argument('<id>', 'ID of the certificate', wholeNumber(1))
    .action(
      calling(
        (client, id: number) => client.showCertificate({ id }),
        ({ certificate }) => `${certificateBlock(certificate)}\n\n${certificate.pem.trimEnd()}`,
      ),
    );

  cert
    .command('validate')
    .description('check whether a certificate was issued here and is valid; exits with 0 only if it is')
    .argument('[file]', 'certificate (PEM); - is stdin')
    .addOption(new Option('--serial-number <serial>', 'serial number in hex, instead of a file'))
    .action(
      printing(async (file: string | undefined, options: { serialNumber?: string }, command: Command) => {
        const { serialNumber } = options;
        if ((file === undefined) === (serialNumber === undefined))
          throw usageFailure('give a certificate file, or --serial-number');
        const certificate = file === undefined ? undefined : await readTextFile(file);
        const reply = await withService(command, (client) =>
          client.validateCertificate({ certificate, serial_number: serialNumber }),
        );
        return {
          reply,
          text: block([
            ['Valid', reply.valid ? 'yes' : 'no'],
            ['Status', reply.status],
            ['Serial', reply.serial_number],
            ['Subject', reply.subject],
            ['Not after', instant(reply.not_after)],
            ['Revoked', instant(reply.revoked_at)],
            ['Reason', reply.reason],
          ]),
          exitCode: reply.valid ? EXIT_CODES.ok : EXIT_CODES.failure,
        };
      }),
    );
}
