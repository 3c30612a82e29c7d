// Tells whether a certificate is one of ours and good. What callers send is parsed natively, and never by anything else.
import { X509Certificate } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { ReplyOf, RequestOf } from '../platform/endpoint.ts';
import { ApiError } from '../platform/errors.ts';
import { toTimestamp, toTimestampOrNull } from '../platform/fields.ts';
import type { AuthorityService } from './authority-service.ts';
import type { certificateContract } from './certificate-contract.ts';
import { certificateState } from './certificate-presenter.ts';
import type { Certificate, CertificateStore } from './certificate-store.ts';
import { oneLine } from './distinguished-name.ts';

type Verdict = ReplyOf<typeof certificateContract.validateCertificate>;

interface Needs {
  certificates: Pick<CertificateStore, 'find'>;
  authority: Pick<AuthorityService, 'all'>;
  clock: Clock;
}

/** RFC 5280, 4.2.1.12. */
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

interface Given {
  certificate: X509Certificate;
  /** Lower-case hex of whole octets, as serial numbers are kept. */
  serialNumber: string;
  subject: string;
  /** Lower-case hex. */
  fingerprint: string;
  notAfter: string | null;
  isForClients: boolean;
}

/** Each field is read from the DER only here, where what cannot be read is refused. */
function parse(pem: string): Given {
  try {
    const certificate = new X509Certificate(pem);
    const { serialNumber, subject, fingerprint256, validTo, keyUsage } = certificate;
    const notAfter = Date.parse(validTo);
    return {
      certificate,
      serialNumber: serialNumber.toLowerCase(),
      subject: oneLine(subject),
      fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
      notAfter: Number.isNaN(notAfter) ? null : toTimestamp(notAfter),
      isForClients: (keyUsage as string[] | undefined)?.includes(CLIENT_AUTH) ?? false,
    };
  } catch {
    const message = 'is no certificate in PEM';
    throw new ApiError('invalid_request', `certificate: ${message}`, {
      details: [{ path: 'certificate', message }],
    });
  }
}

export function createCertificateValidation({ certificates, authority, clock }: Needs) {
  function verdictOn(certificate: Certificate): Verdict {
    const status = certificateState(certificate, clock.now());
    return {
      valid: status === 'good',
      status,
      serial_number: certificate.serialNumber,
      subject: certificate.subject,
      not_after: toTimestamp(certificate.notAfter),
      revoked_at: toTimestampOrNull(certificate.revokedAt),
      reason: certificate.revokeReason,
    };
  }

  async function isIssuedByUs(given: X509Certificate): Promise<boolean> {
    return (await authority.all()).some(
      ({ certificate }) => given.checkIssued(certificate) && given.verify(certificate.publicKey),
    );
  }

  async function validate(pem: string): Promise<Verdict> {
    const { certificate, serialNumber, subject, notAfter, fingerprint, isForClients } = parse(pem);
    const read = { valid: false, serial_number: serialNumber, subject, not_after: notAfter };
    const stranger = { ...read, revoked_at: null, reason: null };
    if (!(await isIssuedByUs(certificate))) return { ...stranger, status: 'unknown_issuer' };
    const known = await certificates.find({ serialNumber });
    // Ours by its signature, but none that was issued to a client: that of the server, say, or of the authority.
    if (known?.fingerprint !== fingerprint || !isForClients) return { ...stranger, status: 'unknown' };
    return verdictOn(known);
  }

  return {
    async validate(request: RequestOf<typeof certificateContract.validateCertificate>): Promise<Verdict> {
      if (request.certificate !== undefined) return validate(request.certificate);
      const serialNumber = request.serial_number ?? '';
      const known = await certificates.find({ serialNumber });
      if (known) return verdictOn(known);
      const nothing = { subject: null, not_after: null, revoked_at: null, reason: null };
      return { valid: false, status: 'unknown', serial_number: serialNumber, ...nothing };
    },
  };
}

export type CertificateValidation = ReturnType<typeof createCertificateValidation>;
