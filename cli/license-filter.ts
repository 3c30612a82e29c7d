// The options that select licenses.
import { Option, type Command } from 'commander';
import type { LicenseState } from '../verifier/license-term.ts';
import { wholeNumber } from './option-values.ts';

/** The compiler reports a state that is missing here. */
const STATES = Object.keys({
  issued: true,
  active: true,
  expiring: true,
  in_grace: true,
  expired: true,
  revoked: true,
} satisfies Record<LicenseState, true>);

export interface LicenseFilterOptions {
  state?: LicenseState;
  search?: string;
  plan?: string;
  product?: string;
  expiresWithin?: number;
}

export function addLicenseFilter(command: Command): Command {
  return command
    .addOption(new Option('--state <state>', 'only licenses in this state').choices(STATES))
    .option('--search <text>', 'part of the holder, email, order number, license key or fingerprint')
    .option('--plan <name>', 'only licenses of this plan')
    .option('--product <slug>', 'only licenses for this product')
    .option(
      '--expires-within <days>',
      'only licenses that expire within this many days',
      wholeNumber(1, 3650),
    );
}

export function licenseFilter({ state, search, plan, product, expiresWithin }: LicenseFilterOptions) {
  return { state, search, plan, product, expires_within_days: expiresWithin };
}
