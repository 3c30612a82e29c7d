// A certificate as text.
import type { CertificateObject } from '#server/features/certificates/certificate-contract.ts';
import { block, instant } from './text-layout.ts';

export function certificateBlock(certificate: CertificateObject): string {
  return block([
    ['ID', certificate.id],
    ['Serial', certificate.serial_number],
    ['License', certificate.license_id],
    ['Subject', certificate.subject],
    ['Status', certificate.status],
    ['Not before', instant(certificate.not_before)],
    ['Not after', instant(certificate.not_after)],
    ['SHA-256', certificate.fingerprint_sha256],
    ...(certificate.revoked_at === null
      ? []
      : ([
          ['Revoked', instant(certificate.revoked_at)],
          ['Reason', certificate.reason],
        ] as const)),
  ]);
}
