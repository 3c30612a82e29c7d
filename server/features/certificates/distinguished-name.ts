// Whom a certificate is for, in words; imports nothing, so that the contract, which browsers run too, can read it.

/** Upper bounds in characters (RFC 5280, appendix A.1: ub-common-name, ub-organization-name, ub-emailaddress-length). */
export const COMMON_NAME_MAX = 64;
export const ORGANIZATION_MAX = 64;
export const EMAIL_MAX = 255;

/** Well-formed text without control characters, which the request schema sees to. */
export interface SubjectNames {
  commonName: string;
  organization?: string | undefined;
  /** ASCII only, as its types in RFC 5280 are. */
  email?: string | undefined;
}

/** What RFC 4514, 2.4 wants behind a backslash. */
const SPECIAL = /^[ #]|[",+;<>\\]| $/gu;

/**
 * The subject in one line: `CN=…,emailAddress=…,O=…`. It is what RFC 4514 and OpenSSL's `-nameopt RFC2253` make of the
 * certificate, and so what nginx hands on as `$ssl_client_s_dn`, but for letters beyond ASCII, which stay as they are.
 */
export function formatSubject({ commonName, organization, email }: SubjectNames): string {
  const parts = [`CN=${escapeValue(commonName)}`];
  if (email !== undefined) parts.push(`emailAddress=${escapeValue(email)}`);
  if (organization !== undefined) parts.push(`O=${escapeValue(organization)}`);
  return parts.join(',');
}

function escapeValue(value: string): string {
  return value.replaceAll(SPECIAL, String.raw`\$&`);
}

/** The same of what `X509Certificate` calls a subject or an issuer: a line each, from the broadest to the narrowest. */
export function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').toReversed().join(',');
}
