// The text form of certificates, lists and keys (RFC 7468).

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;

/** With lines of 64 characters (RFC 7468, section 2), a line feed at the end. */
export function toPem(label: 'CERTIFICATE' | 'PRIVATE KEY' | 'X509 CRL', der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/gu) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** Each certificate's text, in the order in which they stand; what is around and between them is no matter. */
export function certificateBlocks(pem: string): string[] {
  return pem.match(CERTIFICATE) ?? [];
}
