import { Option, type Command } from 'commander';
import type {
  AuthorityObject,
  CertificateObject,
} from '#server/features/certificates/certificate-contract.ts';
import {
  AUTHORITY_KEY_TYPES,
  type AuthorityKeyType,
  CERTIFICATE_STATES,
  REVOCATION_REASONS,
  type CertificateState,
  type RevocationReason,
} from '#server/features/certificates/certificate-state-contract.ts';
import { certificateBlock } from '../certificate-text.ts';
import { calling, printing, withService } from '../command-action.ts';
import { addConfirmation, confirmFirst } from '../confirmation.ts';
import { days, newFile } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { createSecretFile, readTextFile, STANDARD_STREAM, writeTextFile } from '../text-file.ts';
import { block, day, instant, listing, shownOnce, type Column } from '../text-layout.ts';
import { addCertInspection } from './cert-inspection.ts';

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
  const cert = program.command('cert').description('client certificates and their certificate authority');
  addIssue(cert);

  addPageOptions(cert.command('list'))
    .description('list certificates, newest first')
    .option('--license <ref>', 'only certificates of this license (ID or key)')
    .addOption(
      new Option('--status <status>', 'only certificates with this status').choices(CERTIFICATE_STATES),
    )
    .action(
      calling(
        (client, { license, status, limit, cursor }: ListOptions) =>
          client.listCertificates({ license, status, limit, cursor }),
        listing('No certificates.', COLUMNS),
      ),
    );

  addCertInspection(cert);

  addConfirmation(cert.command('revoke'))
    .description('revoke a certificate permanently and wait for the CRL')
    .argument('<serial>', 'serial number in hex')
    .addOption(
      new Option('--reason <reason>', 'revocation reason').choices(REVOCATION_REASONS).default('unspecified'),
    )
    .action(
      calling(
        (client, serial: string, { reason }: { reason: RevocationReason }) =>
          client.revokeCertificate({ serial_number: serial, reason }),
        ({ certificate, listed, late_servers: late }) =>
          [
            certificateBlock(certificate),
            ...(listed || late.length > 0 ? [] : [NOT_LISTED]),
            ...(late.length > 0 ? [notServed(late)] : []),
          ].join('\n\n'),
        { confirm: (serial: string) => `Revoke certificate ${serial}? This cannot be undone.` },
      ),
    );

  cert
    .command('crl')
    .description('print the certificate revocation list (CRL) as PEM')
    .option('--out <file>', 'write to this file; - is stdout (default)')
    .action(
      printing(async ({ out = STANDARD_STREAM }: { out?: string }, command: Command) => {
        const reply = await withService(command, (client) => client.revocationList({}));
        if (out === STANDARD_STREAM) return { reply, text: reply.crl.trimEnd() };
        writeTextFile(out, reply.crl);
        const { crl_number: number, next_update: next, revoked } = reply;
        return {
          reply,
          text: `CRL ${number} written to ${out}: ${revoked.length} revoked, next update ${instant(next)}.`,
        };
      }),
    );

  addAuthority(cert);
}

function addIssue(cert: Command): void {
  cert
    .command('issue')
    .description('issue a client certificate with a new private key, or for the key of --csr')
    .requiredOption('--license <ref>', 'license ID or key')
    .requiredOption('--common-name <name>', 'common name (CN) of the subject')
    .option('--organization <name>', 'organization (O) of the subject')
    .option('--email <address>', 'email address of the subject')
    .option('--days <n>', 'validity in days (default: 365)', days)
    .addOption(
      new Option('--key-size <bits>', 'size of the new private key (default: 2048)').choices(KEY_SIZES),
    )
    .option('--csr <file>', 'certify the key of this signing request (PEM); - is stdin')
    .option(
      '--out <file>',
      'write private key, certificate and CA certificate to this new file, readable only by you',
      newFile,
    )
    .action(
      printing(async (options: IssueOptions, command: Command) => {
        const csr = options.csr === undefined ? undefined : await readTextFile(options.csr);
        // Created first: a key that cannot be written afterwards would be lost.
        const file = options.out === undefined ? undefined : await createSecretFile(options.out);
        try {
          return await withService(command, async (client) => {
            const { license, commonName, organization, email, keySize } = options;
            const { download_token: token, ...issued } = await client.generateCertificate({
              ...(/^\d{1,15}$/u.test(license) ? { license_id: Number(license) } : { license_key: license }),
              common_name: commonName,
              organization,
              email,
              validity_days: options.days,
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
              text: `${about}\n\nWritten to ${options.out}.`,
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
    .description('print the CA certificate as PEM, for the trust stores of proxies and clients')
    .option('--out <file>', 'write to this file; - is stdout (default)')
    .action(
      printing(async ({ out = STANDARD_STREAM }: { out?: string }, command: Command) => {
        const reply = await withService(command, (client) => client.showAuthority({}));
        const { ca_certificate: pem } = reply.authority;
        if (out === STANDARD_STREAM) return { reply, text: pem.trimEnd() };
        writeTextFile(out, pem);
        return { reply, text: `${authorityBlock(reply.authority)}\n\nWritten to ${out}.` };
      }),
    );

  addConfirmation(cert.command('renew-ca'))
    .description('renew the CA certificate with the same key; issued certificates stay valid')
    .addOption(
      new Option(
        '--key-type <type>',
        'if the CA has another type of key, replace it with one that has a new key (not while its certificates are valid)',
      ).choices(AUTHORITY_KEY_TYPES),
    )
    .action(
      printing(async ({ keyType }: { keyType?: AuthorityKeyType }, command: Command) => {
        if (keyType !== undefined)
          await confirmFirst(command, `Use a certificate authority with a ${keyType} key?`);
        const reply = await withService(command, (client) => client.renewAuthority({ key_type: keyType }));
        return { reply, text: authorityBlock(reply.authority) };
      }),
    );

  addConfirmation(cert.command('import-ca'))
    .description('replace the certificate authority with an existing one')
    .requiredOption('--certificate <file>', 'CA certificate (PEM), optionally followed by its chain')
    .requiredOption('--key <file>', 'unencrypted private key (PEM)')
    .action(
      printing(async (options: { certificate: string; key: string }, command: Command) => {
        const certificate = await readTextFile(options.certificate);
        await confirmFirst(command, 'Replace the certificate authority?');
        const privateKey = await readTextFile(options.key);
        const reply = await withService(command, (client) =>
          client.importAuthority({ certificate, private_key: privateKey }),
        );
        return { reply, text: authorityBlock(reply.authority) };
      }),
    );
}

const NOT_LISTED =
  'warning: the CRL does not list this certificate yet, so proxies still accept it. The server keeps trying; check with license-desk doctor.';

const notServed = (late: readonly string[]) =>
  `warning: these servers do not serve the new CRL yet: ${late.join(', ')}. Check with license-desk server list.`;

const COLUMNS: readonly Column<CertificateObject>[] = [
  { title: 'ID', value: (certificate) => certificate.id },
  { title: 'SERIAL', value: (certificate) => certificate.serial_number },
  { title: 'LICENSE', value: (certificate) => certificate.license_id, wideOnly: true },
  { title: 'COMMON NAME', value: (certificate) => certificate.common_name, max: 32 },
  { title: 'STATUS', value: (certificate) => certificate.status },
  { title: 'NOT AFTER', value: (certificate) => day(certificate.not_after) },
  { title: 'REVOKED', value: (certificate) => day(certificate.revoked_at), wideOnly: true },
];

function authorityBlock(authority: AuthorityObject): string {
  return block([
    ['Subject', authority.subject],
    ['Serial', authority.serial_number],
    ['Not before', instant(authority.not_before)],
    ['Not after', instant(authority.not_after)],
    ['SHA-256', authority.fingerprint_sha256],
    ['Key', authority.key_type],
  ]);
}
