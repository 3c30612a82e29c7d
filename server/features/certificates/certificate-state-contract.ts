// Certificate states and revocation reasons. Without imports, so that commands that only need the names load no
// library.

export const CERTIFICATE_STATES = ['good', 'revoked', 'expired', 'not_yet_valid'] as const;

/** Revocation reasons, named and defined as in RFC 5280, section 5.3.1. */
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

/** What a new authority's key may be. RSA is the default, because every TLS library verifies it. */
export const AUTHORITY_KEY_TYPES = ['rsa-3072', 'p-256'] as const;
export type AuthorityKeyType = (typeof AUTHORITY_KEY_TYPES)[number];
