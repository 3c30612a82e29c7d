// The rules that a value can break: a name for programs and other languages, and the English sentence.
import type { RuleValues } from './rule-values.ts';

/** Sentences that are always the same. They follow the name of the field. */
const SENTENCES = {
  required: 'is required',
  empty: 'must not be empty',
  not_a_number: 'must be a number',
  not_a_whole_number: 'must be a whole number',
  not_above_zero: 'must be seconds above 0',
  not_a_time: 'must be a date and time with a time zone, such as 2027-03-31T12:00:00Z',
  not_a_date:
    'must be a date such as 2027-01-31 or 31.01.2027, or a time with offset such as 2027-01-31T12:00:00Z',
  not_in_calendar: 'must be between 1970 and 9999',
  not_in_future: 'must be in the future',
  not_an_email: 'must be an email address',
  not_a_url: 'must be a URL',
  not_a_public_url: 'must be an http or https address without a user name, query or fragment',
  not_an_admin_url:
    'must be an https address without a path, such as https://desk.example.com; http for a loopback host only',
  not_a_database_url:
    'must be a URL such as postgres://user@host:port/database, with special characters in the password percent-encoded',
  not_a_host: 'must be an IP address without a zone, or a host name',
  not_an_address: 'must be an IP address without a zone',
  not_a_network: 'must be a network such as 10.0.0.0/8 or an IP address',
  not_networks: 'must be networks such as 10.0.0.0/8,fd00::/8',
  not_proxies:
    'must be off, on (one proxy), a number of proxies, or their addresses, but not 0.0.0.0/0 or ::/0',
  not_a_tls_mode: 'must be off, auto, or two PEM files as CERT,KEY',
  not_an_absolute_path: 'must be an absolute path',
  not_a_slug: 'must be 1 to 64 lowercase letters, digits or hyphens',
  not_a_fingerprint: 'must be sha256: followed by 64 hex digits',
  not_a_serial_number: 'must be a serial number in hex digits',
  not_an_action: 'must be an action such as license.revoked, or license. for all license actions',
  not_a_request_id: 'must be a request ID or the beginning of one',
  not_a_license_key: 'invalid license key (checksum mismatch)',
  not_certificates: 'must be one or more certificates in PEM',
  unreadable_certificate: 'contains a certificate that cannot be read',
  not_a_private_key: 'must be a private key in PEM that is not encrypted',
  not_key_of_certificate: 'does not belong to the certificate',
  not_an_authority: 'must be a CA certificate (CA:TRUE, keyCertSign, cRLSign)',
  not_der: 'cannot be read: it is not DER',
  client_auth_required:
    'must allow client certificates (extended key usage clientAuth), and so must each in its chain',
  chain_order: 'each further certificate must have signed the one before it',
  invalid_signature: 'its signature is not valid',
  control_character: 'contains control characters',
  invalid_format: 'has an invalid format',
  duplicate_name: 'is given twice',
  reserved_name: 'cannot be the name of a field',
  matches_everyone: 'must name a user, host, group or address: seats cannot be reserved for everyone',
  incomplete_secret: 'is missing its password; enter the complete value',
  same_port: 'the API and the back office need different ports',
  restore_pending:
    'cannot be changed while a confirmed restore is waiting for a restart of the server; restart it, or cancel the restore first',
  revoked_row: 'is revoked; leave the row out, because an import issues a valid license',
  repeated_key: 'occurs twice in the file',
  key_in_use: 'belongs to an existing license',
  not_utf8: 'it is not UTF-8; save it as "CSV UTF-8"',
  not_utf16: 'it is not valid UTF-16; save it as "CSV UTF-8"',
  no_rows: 'it has no rows',
} as const;

export type FixedReason = keyof typeof SENTENCES;

/** Rules whose sentence has values in it, or depends on where the rule applies. */
const OTHER_REASONS = [
  'too_small',
  'too_large',
  'not_in_range',
  'too_short',
  'too_long',
  'too_few',
  'too_many',
  'not_a_choice',
  'wrong_type',
  'invalid_name',
  'hidden_character',
  'one_required',
  'only_one',
  'not_applicable',
  'plan_not_found',
  'plan_archived',
  'other_product',
  'ends_too_late',
  'too_many_cells',
  'too_many_fields',
  'too_many_rows',
  'duplicate_column',
  'unreadable_row',
  'host_unresolved',
  // What an imported certificate authority breaks.
  'certificate_count',
  'unsupported_key',
  'key_too_short',
  'certificate_expired',
  'certificate_not_valid_yet',
  'unsupported_key_in_chain',
  'no_authority_in_chain',
  'chain_too_long',
  'name_constraints',
  // What keeps the next start from using a setting.
  'address_in_use',
  'address_not_local',
  'address_not_permitted',
  'address_unusable',
  'path_missing',
  'path_not_permitted',
  'path_unusable',
  'not_a_file',
  'not_a_folder',
  'read_only_folder',
  'read_only_for_service',
  'no_certificate',
  'unusable_chain',
  'https_url_required',
  'in_data_directory',
  'passphrase_in_backup_folder',
  'backup_folder_required',
  'not_passphrase_length',
  'passphrase_not_utf8',
  'no_database_url',
  'database_refused',
  'database_login_refused',
  'database_not_found',
  'database_not_answering',
  'database_elsewhere',
  // What keeps the next start from using config.json.
  'not_a_json_object',
  'unknown_setting',
  // What keeps the import of an options file from using a line.
  'line_exceeds_members',
  'line_exceeds_groups',
  'line_exceeds_rules',
] as const;

export type RuleReason = FixedReason | (typeof OTHER_REASONS)[number];

export const RULE_REASONS = [...(Object.keys(SENTENCES) as FixedReason[]), ...OTHER_REASONS] as const;

export interface NamedRule {
  /** Left out where the message is all there is. */
  reason?: RuleReason | undefined;
  values?: RuleValues | undefined;
}

export interface BrokenRule extends NamedRule {
  /** In English. */
  message: string;
}

export const sentenceOf = (reason: FixedReason): string => SENTENCES[reason];

const REASONS = new Map<string, FixedReason>(
  Object.entries(SENTENCES).map(([reason, sentence]) => [sentence, reason as FixedReason]),
);

/** The rule that a sentence belongs to: the schema library lets a pattern carry a message, but no reason. */
export const ruleOf = (message: string): BrokenRule => ({ message, reason: REASONS.get(message) });

export const fixedRule = (reason: FixedReason): BrokenRule => ({ message: SENTENCES[reason], reason });

const entries = (limit: number) => `${limit} ${limit === 1 ? 'entry' : 'entries'}`;

export const tooFew = (min: number): BrokenRule => ({
  message: `must have at least ${entries(min)}`,
  reason: 'too_few',
  values: { min },
});

export const tooMany = (max: number, message = `must have at most ${entries(max)}`): BrokenRule => ({
  message,
  reason: 'too_many',
  values: { max },
});

/** Of two fields that exclude each other. */
export const onlyOne = (...fields: [string, string]): BrokenRule => ({
  message: `give ${fields.join(' or ')}, not both`,
  reason: 'only_one',
  values: { fields },
});

/** For `refine`, and in an issue of `superRefine`. */
export const refusal = ({ message, ...params }: BrokenRule) => ({ message, params });
