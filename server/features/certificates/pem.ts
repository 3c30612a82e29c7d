// The text form of certificates, CRLs and keys (RFC 7468).

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;

/** Lines of 64 characters (RFC 7468, section 2), with a trailing line feed. */
export function toPem(label: 'CERTIFICATE' | 'PRIVATE KEY' | 'X509 CRL', der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/gu) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** The PEM blocks of all certificates in order. Other text is ignored. */
export function certificateBlocks(pem: string): string[] {
  return pem.match(CERTIFICATE) ?? [];
}
