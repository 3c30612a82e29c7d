import { Option, type Command } from 'commander';
import type {
  AuthorityObject,
  CertificateObject,
} from '#server/features/certificates/certificate-contract.ts';
import {
  CERTIFICATE_STATES,
  REVOCATION_REASONS,
  type CertificateState,
  type RevocationReason,
} from '#server/features/certificates/certificate-state-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { createSecretFile, readTextFile, writeTextFile } from '../text-file.ts';
import { block, day, instant, listing, shownOnce, type Column } from '../text-layout.ts';

interface IssueOptions {
  license: string;
  commonName: string;
  organization?: string;
  email?: string;
  days?: number;
  keySize?: string;
  csr?: string;
  out?: string;
}

interface ListOptions extends PageOptions {
  license?: string;
  status?: CertificateState;
}

const KEY_SIZES = ['2048', '3072', '4096'] as const;

export function addCertCommands(program: Command): void {
  const cert = program.command('cert').description('client certificates, and the authority that signs them');
  addIssue(cert);

  addPageOptions(cert.command('list'))
    .description('list certificates, newest first')
    .option('--license <ref>', 'only those of this license: its id or key')
    .addOption(new Option('--status <status>', 'only those in this state').choices(CERTIFICATE_STATES))
    .action(
      calling(
        (client, { license, status, limit, cursor }: ListOptions) =>
          client.listCertificates({ license, status, limit, cursor }),
        listing('No certificates.', COLUMNS),
      ),
    );

  cert
    .command('revoke')
    .description('revoke a certificate permanently and wait for the CRL')
    .argument('<serial>', 'serial number in hex, as OpenSSL and browsers show it')
    .addOption(new Option('--reason <reason>', 'why').choices(REVOCATION_REASONS).default('unspecified'))
    .action(
      calling(
        (client, serial: string, { reason }: { reason: RevocationReason }) =>
          client.revokeCertificate({ serial_number: serial, reason }),
        ({ certificate, listed }) =>
          listed ? certificateBlock(certificate) : `${certificateBlock(certificate)}\n\n${NOT_LISTED}`,
      ),
    );

  cert
    .command('crl')
    .description('print the revocation list as PEM')
    .option('--out <file>', 'write it to a file instead')
    .action(
      printing(async ({ out }: { out?: string }, command: Command) => {
        const reply = await withService(command, (client) => client.revocationList({}));
        if (out === undefined) return { reply, text: reply.crl.trimEnd() };
        await writeTextFile(out, reply.crl);
        const { crl_number: number, next_update: next, revoked } = reply;
        return {
          reply,
          text: `List ${number} with ${revoked.length} certificates is in ${out}; it holds until ${instant(next)}.`,
        };
      }),
    );

  addAuthority(cert);
}

function addIssue(cert: Command): void {
  cert
    .command('issue')
    .description('issue a client certificate, with a key of its own unless --csr is given')
    .requiredOption('--license <ref>', 'license id or license key')
    .requiredOption('--common-name <name>', 'who or what the certificate is for')
    .option('--organization <name>', 'its organization')
    .option('--email <address>', 'its e-mail address')
    .option('--days <n>', 'validity in days (default: 365)', wholeNumber(1))
    .addOption(new Option('--key-size <bits>', 'of the key that is made (default: 2048)').choices(KEY_SIZES))
    .option('--csr <file>', 'certify the key of this signing request (PEM) instead; - is stdin')
    .option('--out <file>', 'write key, certificate and authority to this new file, which only you can read')
    .action(
      printing(async (options: IssueOptions, command: Command) => {
        const csr = options.csr === undefined ? undefined : await readTextFile(options.csr);
        // Before anything is issued: a key that cannot be written would be lost.
        const file = options.out === undefined ? undefined : await createSecretFile(options.out);
        try {
          return await withService(command, async (client) => {
            const { license, commonName, organization, email, days, keySize } = options;
            const { download_token: token, ...issued } = await client.generateCertificate({
              ...(/^\d{1,15}$/u.test(license) ? { license_id: Number(license) } : { license_key: license }),
              common_name: commonName,
              organization,
              email,
              validity_days: days,
              key_size: keySize === undefined ? undefined : (Number(keySize) as 2048 | 3072 | 4096),
              csr,
            });
            const about = certificateBlock(issued.certificate);
            if (file === undefined) {
              const reply = token === undefined ? issued : { ...issued, download_token: token };
              const link = issued.download_url;
              return {
                reply,
                text:
                  link === undefined
                    ? `${about}\n\n${issued.certificate.pem.trimEnd()}`
                    : `${shownOnce('Private key', link)}\nThe link works once, for 15 minutes.\n\n${about}`,
              };
            }
            const key = token === undefined ? '' : (await client.downloadKey({ token })).private_key;
            await file.finish(`${key}${issued.certificate.pem}${issued.ca_certificate}`);
            const { certificate, ca_certificate } = issued;
            return {
              reply: { certificate, ca_certificate, file: options.out },
              text: `${about}\n\nIt is in ${options.out}.`,
            };
          });
        } catch (error) {
          await file?.discard();
          throw error;
        }
      }),
    );
}

function addAuthority(cert: Command): void {
  cert
    .command('ca')
    .description("print the authority's certificate as PEM; clients and proxies trust it")
    .option('--out <file>', 'write it to a file instead')
    .action(
      printing(async ({ out }: { out?: string }, command: Command) => {
        const reply = await withService(command, (client) => client.showAuthority({}));
        const { ca_certificate: pem } = reply.authority;
        if (out === undefined) return { reply, text: pem.trimEnd() };
        await writeTextFile(out, pem);
        return { reply, text: `${authorityBlock(reply.authority)}\n\nIt is in ${out}.` };
      }),
    );

  cert
    .command('renew-ca')
    .description('give the authority a new certificate for the same key; what it issued stays good')
    .action(
      calling(
        (client) => client.renewAuthority({}),
        (reply) => authorityBlock(reply.authority),
      ),
    );

  cert
    .command('import-ca')
    .description('issue under an existing authority from now on')
    .requiredOption(
      '--certificate <file>',
      'its certificate (PEM); those that signed it may follow in the file',
    )
    .requiredOption('--key <file>', 'its private key (PEM), not encrypted')
    .action(
      printing(async (options: { certificate: string; key: string }, command: Command) => {
        const certificate = await readTextFile(options.certificate);
        const privateKey = await readTextFile(options.key);
        const reply = await withService(command, (client) =>
          client.importAuthority({ certificate, private_key: privateKey }),
        );
        return { reply, text: authorityBlock(reply.authority) };
      }),
    );
}

const NOT_LISTED =
  'warning: the CRL does not have this certificate yet, so proxies still accept it; the server keeps trying (see license-desk doctor)';

const COLUMNS: readonly Column<CertificateObject>[] = [
  { title: 'ID', value: (certificate) => certificate.id },
  { title: 'SERIAL', value: (certificate) => certificate.serial_number },
  { title: 'LICENSE', value: (certificate) => certificate.license_id },
  { title: 'COMMON NAME', value: (certificate) => certificate.common_name, max: 32 },
  { title: 'STATUS', value: (certificate) => certificate.status },
  { title: 'NOT AFTER', value: (certificate) => day(certificate.not_after) },
  { title: 'REVOKED', value: (certificate) => day(certificate.revoked_at) },
];

function certificateBlock(certificate: CertificateObject): string {
  return block([
    ['Id', certificate.id],
    ['Serial', certificate.serial_number],
    ['License', certificate.license_id],
    ['Subject', certificate.subject],
    ['Status', certificate.status],
    ['Not before', instant(certificate.not_before)],
    ['Not after', instant(certificate.not_after)],
    ['SHA-256', certificate.fingerprint_sha256],
    ...(certificate.revoked_at === null
      ? []
      : ([
          ['Revoked', instant(certificate.revoked_at)],
          ['Reason', certificate.reason],
        ] as const)),
  ]);
}

function authorityBlock(authority: AuthorityObject): string {
  return block([
    ['Subject', authority.subject],
    ['Serial', authority.serial_number],
    ['Not before', instant(authority.not_before)],
    ['Not after', instant(authority.not_after)],
    ['SHA-256', authority.fingerprint_sha256],
  ]);
}
