// Subject names of certificates. Without imports, because browsers load it as part of the contract.

/** Upper bounds in characters (RFC 5280, appendix A.1: ub-common-name, ub-organization-name, ub-emailaddress-length). */
export const COMMON_NAME_MAX = 64;
export const ORGANIZATION_MAX = 64;
export const EMAIL_MAX = 255;

/** Well-formed text without control characters; the request schema ensures that. */
export interface SubjectNames {
  commonName: string;
  organization?: string | undefined;
  /** ASCII only, as RFC 5280 defines it. */
  email?: string | undefined;
}

/** Characters that RFC 4514, 2.4 escapes with a backslash. */
const SPECIAL = /^[ #]|[",+;<>\\]| $/gu;

/**
 * The subject in one line: `CN=…,emailAddress=…,O=…`. Equals RFC 4514 and OpenSSL's `-nameopt RFC2253`, which nginx
 * passes on as
 * `$ssl_client_s_dn`, except that non-ASCII letters are not escaped.
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

/** The same for a subject or issuer from `X509Certificate`, which has one line per name, broadest first. */
export function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').toReversed().join(',');
}
