import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { CertificateObject } from './certificate-contract.ts';
import type { CertificateState } from './certificate-state-contract.ts';
import type { Certificate } from './certificate-store.ts';

/** Revocation takes precedence over time. Both ends of the validity period are inclusive (RFC 5280, 4.1.2.5). */
export function certificateState(
  certificate: Pick<Certificate, 'revokedAt' | 'notBefore' | 'notAfter'>,
  now: number,
): CertificateState {
  if (certificate.revokedAt !== null) return 'revoked';
  if (now < certificate.notBefore) return 'not_yet_valid';
  return now > certificate.notAfter ? 'expired' : 'good';
}

export function toCertificateObject(certificate: Certificate, now: number): CertificateObject {
  return {
    id: certificate.id,
    serial_number: certificate.serialNumber,
    license_id: certificate.licenseId,
    common_name: certificate.commonName,
    subject: certificate.subject,
    not_before: toTimestamp(certificate.notBefore),
    not_after: toTimestamp(certificate.notAfter),
    fingerprint_sha256: certificate.fingerprint,
    status: certificateState(certificate, now),
    revoked_at: toTimestampOrNull(certificate.revokedAt),
    reason: certificate.revokeReason,
    pem: certificate.pem,
  };
}

/** For the audit log, without the certificate itself. */
export function toCertificateRecord(certificate: Certificate, now: number): object {
  const { pem: _pem, ...record } = toCertificateObject(certificate, now);
  return record;
}

/** The certificate fields in events (contract, section 6). */
export function toEventCertificate(certificate: Certificate): object {
  return {
    serial_number: certificate.serialNumber,
    subject: certificate.subject,
    not_before: toTimestamp(certificate.notBefore),
    not_after: toTimestamp(certificate.notAfter),
    fingerprint_sha256: certificate.fingerprint,
  };
}
