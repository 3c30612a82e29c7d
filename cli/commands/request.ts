import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Option, type Command } from 'commander';
import { formatMachineRequest, type MachineRequest } from '../../verifier/machine-request.ts';
import { printing } from '../command-action.ts';
import { usageFailure } from '../command-failure.ts';
import { machineFingerprint } from '../machine-fingerprint.ts';
import { fingerprint, licenseKey } from '../option-values.ts';
import { STANDARD_STREAM, writeTextFile } from '../text-file.ts';
import { block } from '../text-layout.ts';

/** Tells two requests of one machine apart; it protects nothing. */
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
    .description('on a machine without a network: write the request for its license file')
    .requiredOption('--license-key <key>', 'the license to activate', licenseKey)
    .option('--out <file>', 'where to write the request; - is stdout')
    .option('--qr', 'print the request as one short line, for a QR code')
    .option('--product <slug>', 'product (default: what the license is for)')
    .option('--machine-name <name>', "what the back office calls this machine (default: its host's name)")
    .option('--fingerprint <fingerprint>', 'request for another machine than this one', fingerprint)
    .addOption(new Option('--seed <text>', 'make the fingerprint from this text').conflicts('fingerprint'))
    .action(
      printing(async (options: RequestOptions) => {
        if (options.out === undefined && !options.qr) throw usageFailure('give --out FILE, or --qr');
        const request = requestFor(options);
        const file = formatMachineRequest(request);
        const line = formatMachineRequest(request, 'line');
        const path = options.out === STANDARD_STREAM ? null : (options.out ?? null);
        if (path !== null) await writeTextFile(path, file);
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

function requestFor(options: RequestOptions): MachineRequest {
  return {
    licenseKey: options.licenseKey,
    fingerprint: options.fingerprint ?? machineFingerprint({ seed: options.seed }).fingerprint,
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
    ...(options.product === undefined ? {} : { product: options.product }),
    machineName: options.machineName ?? hostname(),
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
    ['Machine', machineName ?? null],
    ['Fingerprint', machine],
  ]);
  const next =
    'Carry it to the license server: import it in the back office, or use license-desk activate-offline.';
  return `${facts}\n\n${next}`;
}
