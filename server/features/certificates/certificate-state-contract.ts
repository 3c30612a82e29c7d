// What a certificate can be, and why it can be revoked; without a library, so that commands which only name them load none.

export const CERTIFICATE_STATES = ['good', 'revoked', 'expired', 'not_yet_valid'] as const;

/** Why a certificate is revoked; names and meanings as in RFC 5280, section 5.3.1. */
export const REVOCATION_REASONS = [
  'unspecified',
  'key_compromise',
  'affiliation_changed',
  'superseded',
  'cessation_of_operation',
  'privilege_withdrawn',
] as const;

export type CertificateState = (typeof CERTIFICATE_STATES)[number];
export type RevocationReason = (typeof REVOCATION_REASONS)[number];
