// Checks whether a certificate was issued here and is valid. Untrusted input is only ever parsed by Node's own parser.
import { createHash, X509Certificate } from 'node:crypto';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { refusedField } from '#server/wire/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { AuthorityService } from './authority-service.ts';
import type { certificateContract } from './certificate-contract.ts';
import { certificateState } from './certificate-presenter.ts';
import type { CertificateFacts, CertificateStore } from './certificate-store.ts';
import { oneLine } from './distinguished-name.ts';

type Verdict = ReplyOf<typeof certificateContract.validateCertificate>;

interface Needs {
  certificates: Pick<CertificateStore, 'find' | 'findFacts'>;
  authority: Pick<AuthorityService, 'all'>;
  clock: Clock;
}

const BLOCK = /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/u;

/** The DER of a single, plainly formatted PEM block; null if it needs a closer look. */
function decode(pem: string): Buffer | null {
  const encoded = BLOCK.exec(pem)?.[1]?.replaceAll(/\s/gu, '');
  if (encoded === undefined) return null;
  const der = Buffer.from(encoded, 'base64');
  return der.toString('base64') === encoded ? der : null;
}

function parse(pem: string): { certificate: X509Certificate; verdict: Omit<Verdict, 'status'> } {
  try {
    const certificate = new X509Certificate(pem);
    // All fields are read here, so that an unreadable one is rejected like any other invalid certificate.
    const { serialNumber, subject, validTo } = certificate;
    const notAfter = Date.parse(validTo);
    const verdict = {
      valid: false,
      serial_number: serialNumber.toLowerCase(),
      subject: oneLine(subject),
      not_after: Number.isNaN(notAfter) ? null : toTimestamp(notAfter),
      revoked_at: null,
      reason: null,
    };
    return { certificate, verdict };
  } catch {
    const message = 'must be a certificate in PEM';
    throw refusedField('certificate', { message, reason: 'not_certificates' });
  }
}

export function createCertificateValidation({ certificates, authority, clock }: Needs) {
  function verdictOn(certificate: CertificateFacts): Verdict {
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

  const find = (der: Buffer) => certificates.findFacts(createHash('sha256').update(der).digest('hex'));

  /**
   * Untrusted certificates are matched by digest before they are parsed. The row of an issued one has the issuer,
   * holder and validity.
   */
  async function validate(pem: string): Promise<Verdict> {
    const der = decode(pem);
    const known = der && (await find(der));
    if (known) return verdictOn(known);
    const { certificate, verdict } = parse(pem);
    if (!(await isIssuedByUs(certificate))) return { ...verdict, status: 'unknown_issuer' };
    const issued = await find(certificate.raw);
    // Signed by the authority, but not issued to a client: for example the server's certificate or the authority's.
    return issued ? verdictOn(issued) : { ...verdict, status: 'unknown' };
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
