import { Option, type Command } from 'commander';
import type { VerificationKey } from '../../verifier/public-key-format.ts';
import { DistrustListError } from '../../verifier/distrust-list.ts';
import { CannotDecryptError } from '../../verifier/license-file-decryption.ts';
import {
  type LicenseFileVerification,
  NotALicenseFileError,
  verifyLicenseFile,
} from '../../verifier/verify-license-file.ts';
import { printing } from '../command-action.ts';
import { CommandFailure } from '../command-failure.ts';
import { EXIT_CODE_OF_REASON, EXIT_CODES } from '../exit-codes.ts';
import { lastSeenFile } from '../last-seen-file.ts';
import { machineFingerprint, NoStableIdentityError } from '../machine-fingerprint.ts';
import { fingerprint, licenseKey, moment, wholeNumber } from '../option-values.ts';
import { readTextFile } from '../text-file.ts';
import { block, instant, table } from '../text-layout.ts';
import { readTrustedKeys } from '../trusted-keys.ts';

interface VerifyOptions {
  publicKey: string;
  fingerprint?: string;
  seed?: string;
  anyMachine?: true;
  licenseKey?: string;
  product?: string;
  feature?: string;
  now?: string;
  lastSeen?: string;
  distrustList?: string;
  minDistrustSequence?: number;
}

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('verify a license file or a lease file offline with the public key')
    .argument('<file>', 'license file or lease file; - is stdin')
    .requiredOption(
      '--public-key <key>',
      'public key: base64, PEM, the JSON of /public-key/, or a file that holds one of them',
    )
    .option(
      '--fingerprint <fingerprint>',
      'device that a bound file must belong to (default: this machine)',
      fingerprint,
    )
    .addOption(
      new Option('--seed <text>', "derive this machine's fingerprint from this text").conflicts(
        'fingerprint',
      ),
    )
    .addOption(
      new Option('--any-machine', 'accept a bound file of any device').conflicts(['fingerprint', 'seed']),
    )
    .option('--license-key <key>', 'license key that decrypts the file', licenseKey)
    .option('--product <slug>', 'product that the license must cover')
    .option('--feature <name>', 'entitlement that the license must include')
    .option('--now <time>', 'verify as of this time', moment)
    .addOption(
      new Option(
        '--last-seen <file>',
        'keep the latest time in this file and refuse a clock that was set back by more than 24 hours',
      ).conflicts('now'),
    )
    .option('--distrust-list <file>', 'signed list of distrusted keys; files signed with them are refused')
    .option(
      '--min-distrust-sequence <n>',
      'lowest sequence number of the distrust list to accept',
      wholeNumber(1),
    )
    .addHelpText('after', () => `\n${exitCodesText()}`)
    .action(
      printing(async (path: string, options: VerifyOptions) => {
        const keys = await readTrustedKeys(options.publicKey);
        const verification = await verify(await readTextFile(path), keys, options);
        return {
          reply: verificationReply(verification),
          text: verificationText(verification),
          exitCode: verification.reason === null ? EXIT_CODES.ok : EXIT_CODE_OF_REASON[verification.reason],
        };
      }),
    );
}

async function verify(
  file: string,
  keys: readonly VerificationKey[],
  options: VerifyOptions,
): Promise<LicenseFileVerification> {
  const { seed, anyMachine = false, now, lastSeen, distrustList } = options;
  const machine = anyMachine ? undefined : (options.fingerprint ?? thisMachine(seed));
  const verification = await checkFile(file, {
    keys,
    now: now === undefined ? Date.now() : Date.parse(now),
    fingerprint: machine instanceof Error ? undefined : machine,
    anyMachine,
    licenseKey: options.licenseKey,
    product: options.product,
    feature: options.feature,
    lastSeen: lastSeen === undefined ? undefined : lastSeenFile(lastSeen),
    distrustList: distrustList === undefined ? undefined : await readTextFile(distrustList),
    minDistrustSequence: options.minDistrustSequence,
  });
  if (verification.machine !== null && machine instanceof Error) throw machine;
  return verification;
}

/** Turns the verifier's errors, which know no exit codes, into failures of the command. */
async function checkFile(...given: Parameters<typeof verifyLicenseFile>): Promise<LicenseFileVerification> {
  try {
    return await verifyLicenseFile(...given);
  } catch (error) {
    if (error instanceof NotALicenseFileError)
      throw new CommandFailure('invalid_request', error.message, { exitCode: EXIT_CODES.notALicenseFile });
    if (error instanceof CannotDecryptError || error instanceof DistrustListError)
      throw new CommandFailure('invalid_request', error.message);
    throw error;
  }
}

/** Returned, not thrown: a machine without a stable identity can still use an unbound file. */
function thisMachine(seed: string | undefined): string | NoStableIdentityError {
  try {
    return machineFingerprint({ seed }).fingerprint;
  } catch (error) {
    if (error instanceof NoStableIdentityError) return error;
    throw error;
  }
}

/** Same names as in the reply of `/validate-offline/`. */
function verificationReply({ valid, reason, license, checks, lease, ...file }: LicenseFileVerification) {
  return {
    valid,
    reason,
    license,
    checks,
    ...(lease === null ? {} : { lease }),
    machine: file.machine,
    signed_at: toTimestamp(file.signedAt),
    file_expires_at: toTimestamp(file.fileExpiresAt),
    key_id: file.keyId,
    ...(file.distrustList === null
      ? {}
      : {
          distrust_list: {
            sequence: file.distrustList.sequence,
            issued_at: toTimestamp(file.distrustList.issuedAt),
          },
        }),
  };
}

function verificationText({ reason, license, checks, lease, ...file }: LicenseFileVerification): string {
  const facts = license && [
    block([
      ['License key', license.license_key],
      ['Holder', license.holder],
      ['Product', license.product],
      ['Plan', license.plan],
      ['State', license.state],
      ['Expires', instant(license.expires_at)],
      ['Grace period ends', instant(license.grace_ends_at)],
      ...leaseLines(lease),
      ['File expires', instant(toTimestamp(file.fileExpiresAt))],
      ['Device', file.machine?.fingerprint ?? 'any'],
      ['Features', license.features.join(', ')],
    ]),
  ];
  const rows = table(
    [
      { title: 'CHECK', value: (check) => check.rule },
      { title: 'RESULT', value: (check) => (check.passed ? 'ok' : 'FAILED') },
      { title: 'DETAIL', value: (check) => check.detail },
    ],
    checks,
  );
  return [reason === null ? 'VALID' : `NOT VALID: ${reason}`, ...(facts ?? []), rows].join('\n\n');
}

function leaseLines(lease: LicenseFileVerification['lease']): [string, string | number][] {
  if (lease === null) return [];
  return [
    ['Lease', `${lease.lease_id} (${lease.state})`],
    ['Units', lease.units],
  ];
}

function exitCodesText(): string {
  const rows = [
    { code: EXIT_CODES.ok, meaning: 'the license file is valid' },
    { code: EXIT_CODES.failure, meaning: 'the file could not be checked' },
    { code: EXIT_CODES.usage, meaning: 'wrong usage' },
    { code: EXIT_CODES.notALicenseFile, meaning: 'not a license file' },
    ...Object.entries(EXIT_CODE_OF_REASON).map(([reason, code]) => ({ code, meaning: reason })),
  ];
  return table(
    [
      { title: 'EXIT CODE', value: ({ code }) => code },
      { title: 'MEANING', value: ({ meaning }) => meaning },
    ],
    rows,
  );
}

/** @param ms epoch milliseconds */
function toTimestamp(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
