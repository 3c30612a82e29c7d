// Issuing client certificates, listing them, and revoking them.
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Audit } from '../audit/audit-service.ts';
import { idFromCursor, toPage } from '../database/page.ts';
import type { RunTransaction } from '../database/transaction.ts';
import type { Events } from '../events/event-service.ts';
import type { License, LicenseReference, LicenseStore } from '../licenses/license-store.ts';
import type { Call } from '../platform/call.ts';
import type { Clock } from '../platform/clock.ts';
import type { RequestOf } from '../platform/endpoint.ts';
import { ApiError } from '../platform/errors.ts';
import { DAY_MS } from '../platform/fields.ts';
import type { AuthorityService } from './authority-service.ts';
import type { Authority } from './authority.ts';
import type { certificateAdminContract, certificateContract } from './certificate-contract.ts';
import type { CertificateKeys } from './certificate-key-service.ts';
import { toCertificateObject, toCertificateRecord, toEventCertificate } from './certificate-presenter.ts';
import type { Certificate, CertificateReference, CertificateStore } from './certificate-store.ts';
import { CLOCK_SKEW_MS, wholeSeconds } from './certificate-time.ts';
import { encodeRevokedEntry } from './crl-builder.ts';
import { formatSubject } from './distinguished-name.ts';
import { keyIdentifier, newSerial } from './issuer.ts';
import { generateRsaKey } from './key-pair.ts';
import { toPem } from './signed-structure.ts';
import { readSigningRequest, SigningRequestError } from './signing-request.ts';

interface Needs {
  certificates: CertificateStore;
  authority: AuthorityService;
  keys: CertificateKeys;
  licenses: Pick<LicenseStore, 'find' | 'findForChange'>;
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  byRef(ref: string): LicenseReference;
  byIdOrKey(request: { license_id?: number | undefined; license_key?: string | undefined }): LicenseReference;
  licenseNotFound(): ApiError;
  /** `http://127.0.0.1:8787/license/api/svc`, without a slash at its end. */
  apiBaseUrl(): string;
  /** Ends once the revocation list has what was revoked before, or when that takes too long to wait for. */
  publishRevocations(): Promise<void>;
}

type Order = RequestOf<typeof certificateContract.generateCertificate>;

interface Subject {
  publicKey: KeyObject;
  /** PKCS#8; null if the caller has it. */
  privateKeyDer: Buffer | null;
}

function readRequest(csr: string): Subject {
  try {
    return { ...readSigningRequest(csr), privateKeyDer: null };
  } catch (error) {
    if (!(error instanceof SigningRequestError)) throw error;
    const { message } = error;
    throw new ApiError('invalid_request', `csr: ${message}`, { details: [{ path: 'csr', message }] });
  }
}

function notFound(): ApiError {
  return new ApiError('certificate_not_found', 'there is no such certificate');
}

export function createCertificateService(needs: Needs) {
  const { certificates, authority, keys, licenses, audit, events, transaction, clock } = needs;

  function mustExist(license: License | null): License {
    if (!license) throw needs.licenseNotFound();
    return license;
  }

  async function build(order: Order, license: License, publicKey: KeyObject, issuer: Authority) {
    const now = clock.now();
    const notAfter = Math.min(wholeSeconds(now + order.validity_days * DAY_MS), issuer.notAfter);
    if (notAfter <= now)
      throw new ApiError('unavailable', 'the certificate authority has ended; import its new certificate');
    const { common_name: commonName, organization, email } = order;
    const names = { commonName, organization, email };
    const serial = newSerial();
    const term = { notBefore: wholeSeconds(now - CLOCK_SKEW_MS), notAfter };
    // The library that builds certificates is loaded when the first one is built.
    const { buildClientCertificate } = await import('./certificate-builder.ts');
    const crlUrl = `${needs.apiBaseUrl()}/certs/crl/?format=der`;
    const der = buildClientCertificate({ issuer: issuer.issuer, serial, names, ...term, publicKey, crlUrl });
    return {
      licenseId: license.id,
      authorityKey: issuer.keyIdentifier,
      serialNumber: serial.toString('hex'),
      commonName,
      subject: formatSubject(names),
      ...term,
      fingerprint: new X509Certificate(der).fingerprint256.replaceAll(':', '').toLowerCase(),
      createdAt: now,
      revokedAt: null,
      revokeReason: null,
      pem: toPem('CERTIFICATE', der),
    };
  }

  async function findNamed(
    { id, serial_number: serialNumber }: RequestOf<typeof certificateContract.revokeCertificate>,
    find: (reference: CertificateReference) => Promise<Certificate | null>,
  ): Promise<Certificate> {
    const certificate =
      id === undefined
        ? serialNumber === undefined
          ? null
          : await find({ serialNumber })
        : await find({ id });
    if (!certificate || (serialNumber !== undefined && certificate.serialNumber !== serialNumber))
      throw notFound();
    return certificate;
  }

  /** @returns null if it was revoked before */
  const revoke = (request: RequestOf<typeof certificateContract.revokeCertificate>, call: Call) =>
    transaction(async () => {
      const now = clock.now();
      const before = await findNamed(request, certificates.findForChange);
      if (before.revokedAt !== null) return { certificate: before, isNew: false };
      const { reason } = request;
      const certificate: Certificate = { ...before, revokedAt: now, revokeReason: reason };
      await certificates.markRevoked(before.id, now, reason);
      const serial = Buffer.from(before.serialNumber, 'hex');
      await certificates.insertRevocation({
        certificateId: before.id,
        authorityKey: before.authorityKey,
        notAfter: before.notAfter,
        derHex: encodeRevokedEntry({ serial, revokedAt: now, reason }).toString('hex'),
        json: JSON.stringify({
          serial_number: before.serialNumber,
          revoked_at: new Date(now).toISOString(),
          reason,
        }),
      });
      const license = mustExist(await licenses.find({ id: before.licenseId }));
      await events.emit({
        name: 'certificate.revoked',
        license,
        extra: { certificate: toEventCertificate(certificate), reason },
      });
      const subject = `certificate:${before.id}`;
      const [was, is] = [before, certificate].map((state) => toCertificateRecord(state, now));
      await audit.record(call, 'certificate.revoked', subject, was ?? null, is ?? null);
      return { certificate, isNew: true };
    });

  return {
    /** Makes the key or reads the request, and sees to it that there is an authority. */
    async prepare({ csr, key_size: keySize }: Order): Promise<Subject> {
      const subject = csr === undefined ? await generateRsaKey(keySize) : readRequest(csr);
      const { keyIdentifier: authorityKey } = await authority.current();
      if (keyIdentifier(subject.publicKey).toString('hex') === authorityKey)
        throw new ApiError('invalid_request', "csr: its key is the authority's own");
      return subject;
    },

    generate: (order: Order, call: Call, { publicKey, privateKeyDer }: Subject) =>
      transaction(async () => {
        const license = mustExist(await licenses.findForChange(needs.byIdOrKey(order)));
        if (license.revokedAt !== null)
          throw new ApiError('license_revoked', 'the license is revoked', { status: 409 });
        const issuer = await authority.current();
        const certificate = await certificates.insert(await build(order, license, publicKey, issuer));
        const now = clock.now();
        const extra = { certificate: toEventCertificate(certificate) };
        await events.emit({ name: 'certificate.generated', license, extra });
        const record = toCertificateRecord(certificate, now);
        await audit.record(call, 'certificate.generated', `certificate:${certificate.id}`, null, record);
        return {
          certificate: toCertificateObject(certificate, now),
          ca_certificate: issuer.pem,
          ...(privateKeyDer === null ? {} : await keys.keep(certificate, privateKeyDer)),
        };
      }),

    async list(request: RequestOf<typeof certificateAdminContract.listCertificates>) {
      const { license, status, cursor, limit } = request;
      const now = clock.now();
      const licenseId =
        license === undefined ? undefined : mustExist(await licenses.find(needs.byRef(license))).id;
      const rows = await certificates.list({ licenseId, status, before: idFromCursor(cursor), limit, now });
      return toPage(rows, limit, (certificate) => toCertificateObject(certificate, now));
    },

    async show(id: number) {
      const certificate = await certificates.find({ id });
      if (!certificate) throw notFound();
      return { certificate: toCertificateObject(certificate, clock.now()) };
    },

    /** Once more changes nothing. The caller is answered when the list has it, so that nobody is let in after that. */
    async revoke(request: RequestOf<typeof certificateContract.revokeCertificate>, call: Call) {
      const { certificate, isNew } = await revoke(request, call);
      if (isNew) await needs.publishRevocations();
      return { certificate: toCertificateObject(certificate, clock.now()) };
    },
  };
}

export type CertificateService = ReturnType<typeof createCertificateService>;
