import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Option, type Command } from 'commander';
import { formatMachineRequest, type MachineRequest } from '../../verifier/machine-request.ts';
import { printing } from '../command-action.ts';
import { usageFailure } from '../command-failure.ts';
import { machineFingerprint } from '../machine-fingerprint.ts';
import { fingerprint, licenseKey } from '../option-values.ts';
import { refuseBadRequest } from '../request-check.ts';
import { STANDARD_STREAM, writeTextFile } from '../text-file.ts';
import { block } from '../text-layout.ts';

/** Distinguishes two requests of one device; not a security measure. */
const NONCE_BYTES = 12;

interface RequestOptions {
  licenseKey: string;
  out?: string;
  product?: string;
  machineName?: string;
  fingerprint?: string;
  seed?: string;
  qr?: true;
}

export function addRequest(program: Command): void {
  program
    .command('request')
    .description('on the offline machine: write an activation request')
    .requiredOption('--license-key <key>', 'license key to activate', licenseKey)
    .option('--out <file>', 'write the request here; - is stdout')
    .option('--qr', 'print the request as one short line, for a QR code')
    .option('--product <slug>', 'product (default: the product of the license)')
    .option('--machine-name <name>', 'device name in the back office (default: the host name)')
    .option(
      '--fingerprint <fingerprint>',
      'fingerprint of another device (default: this machine)',
      fingerprint,
    )
    .addOption(new Option('--seed <text>', 'derive the fingerprint from this text').conflicts('fingerprint'))
    .action(
      printing(async (options: RequestOptions, command: Command) => {
        if (options.out === undefined && !options.qr) throw usageFailure('give --out or --qr');
        // Loaded here, because other commands start without it.
        const { activationContract, MAX_MACHINE_NAME } =
          await import('#server/features/activations/activation-contract.ts');
        const request = requestFor(options, hostname().slice(0, MAX_MACHINE_NAME));
        // A mistake shows now rather than after the file was carried to the server.
        refuseBadRequest(command, activationContract.activate, {
          license_key: request.licenseKey,
          machine_fingerprint: request.fingerprint,
          product_slug: request.product,
          machine_name: request.machineName,
        });
        const file = formatMachineRequest(request);
        const line = formatMachineRequest(request, 'line');
        const path = options.out === STANDARD_STREAM ? null : (options.out ?? null);
        if (path !== null) writeTextFile(path, file);
        return {
          reply: {
            file: path,
            request: file,
            line,
            license_key: request.licenseKey,
            machine_fingerprint: request.fingerprint,
            machine_name: request.machineName,
          },
          text: [
            ...(options.out === STANDARD_STREAM ? [file] : []),
            ...(path === null ? [] : [written(path, request)]),
            ...(options.qr ? [line] : []),
          ].join('\n'),
        };
      }),
    );
}

function requestFor(options: RequestOptions, hostName: string): MachineRequest {
  return {
    licenseKey: options.licenseKey,
    fingerprint: options.fingerprint ?? machineFingerprint({ seed: options.seed }).fingerprint,
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
    ...(options.product === undefined ? {} : { product: options.product }),
    machineName: options.machineName ?? hostName,
    issuedAt: Date.now(),
  };
}

function written(
  path: string,
  { licenseKey: key, fingerprint: machine, machineName }: MachineRequest,
): string {
  const facts = block([
    ['Request', path],
    ['License key', key],
    ['Device', machineName ?? null],
    ['Fingerprint', machine],
  ]);
  const next =
    'Next, on the license server: import the request in the back office, or run license-desk activate-offline.';
  return `${facts}\n\n${next}`;
}
