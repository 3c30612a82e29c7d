// Issues, lists and revokes client certificates.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { idFromCursor, toPage } from '#server/database/page.ts';
import { type RunTransaction, together } from '#server/database/transaction.ts';
import type { Events } from '#server/features/events/event-service.ts';
import { byIdOrKey, byRef, requireLicense } from '#server/rules/license-reference.ts';
import { refuseUnsignable } from '#server/rules/license-refusals.ts';
import type { ChangeLicense } from '#server/features/licenses/license-change.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { AuthorityService } from './authority-service.ts';
import type { Authority } from './authority.ts';
import type { certificateAdminContract, certificateContract } from './certificate-contract.ts';
import { type Draft, draftCertificate, newSubject, type Order, type Subject } from './certificate-draft.ts';
import type { CertificateKeys } from './certificate-key-service.ts';
import { toCertificateObject, toCertificateRecord, toEventCertificate } from './certificate-presenter.ts';
import type { Certificate, CertificateReference, CertificateStore } from './certificate-store.ts';
import { encodeRevocation } from './revocation-entry.ts';
import type { RevocationListStore } from './revocation-list-store.ts';

interface Needs {
  certificates: CertificateStore;
  addRevocation: RevocationListStore['insertEntry'];
  authority: AuthorityService;
  keys: CertificateKeys;
  licenses: Pick<LicenseStore, 'find'>;
  changeLicense: ChangeLicense;
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  /** `http://127.0.0.1:8787/license/api/svc`, without a trailing slash. */
  apiBaseUrl(): string;
  /** Resolves when the CRL contains all earlier revocations, or after a time limit. */
  publishRevocations(): Promise<void>;
  /** Waits until the other servers serve the newest CRL. @returns the ready servers that do not in time */
  spreadList(): Promise<string[]>;
  /** Whether the certificate's revocation is missing from the CRL. */
  isUnlisted(certificate: Certificate): Promise<boolean>;
}

interface Prepared extends Subject {
  issuer: Authority;
  draft: Draft;
}

function notFound(): ApiError {
  return new ApiError('certificate_not_found', 'certificate not found');
}

export function createCertificateService(needs: Needs) {
  const { certificates, authority, keys, licenses, changeLicense, audit, events, transaction, clock } = needs;

  const draftFor = (order: Order, { publicKey }: Subject, { issuer, keyIdentifier, notAfter }: Authority) =>
    draftCertificate(order, publicKey, {
      issuer,
      authorityKey: keyIdentifier,
      endsAt: notAfter,
      now: clock.now(),
      crlUrl: `${needs.apiBaseUrl()}/certs/crl/?format=der`,
    });

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

  const revoke = (request: RequestOf<typeof certificateContract.revokeCertificate>, call: Call) =>
    transaction(async () => {
      const now = clock.now();
      const before = await findNamed(request, certificates.findForChange);
      if (before.revokedAt !== null) return before;
      const { reason } = request;
      const certificate: Certificate = { ...before, revokedAt: now, revokeReason: reason };
      await certificates.markRevoked(before.id, now, reason);
      await needs.addRevocation({
        certificateId: before.id,
        authorityKey: before.authorityKey,
        notAfter: before.notAfter,
        ...encodeRevocation({ serialNumber: before.serialNumber, revokedAt: now, reason }),
      });
      const license = requireLicense(await licenses.find({ id: before.licenseId }));
      await events.emit({
        name: 'certificate.revoked',
        license,
        extra: { certificate: toEventCertificate(certificate), reason },
      });
      const subject = `certificate:${before.id}`;
      const [was, is] = [before, certificate].map((state) => toCertificateRecord(state, now));
      await audit.record(call, 'certificate.revoked', subject, was ?? null, is ?? null);
      return certificate;
    });

  return {
    /** Does the slow work before the transaction. The license is checked later. */
    async prepare(order: Order, call: Call): Promise<Prepared> {
      const subject = await newSubject(order, call);
      const issuer = await authority.current();
      return { ...subject, issuer, draft: await draftFor(order, subject, issuer) };
    },

    generate(order: Order, call: Call, prepared: Prepared) {
      let { issuer } = prepared;
      const alsoRead = async () => {
        issuer = await authority.hold();
      };
      const issue = async (license: License) => {
        // A relying party checks the CRL, not the license (decision 0037).
        refuseUnsignable(license, clock.now());
        // The authority may have been renewed or replaced since.
        const draft =
          issuer.id === prepared.issuer.id ? prepared.draft : await draftFor(order, prepared, issuer);
        const certificate = await certificates.insert({ ...draft, licenseId: license.id });
        const now = clock.now();
        const extra = { certificate: toEventCertificate(certificate) };
        const record = toCertificateRecord(certificate, now);
        const [download] = await together(
          prepared.privateKeyDer === null
            ? Promise.resolve({})
            : keys.keep(certificate, prepared.privateKeyDer),
          events.emit({ name: 'certificate.generated', license, extra }),
          audit.record(call, 'certificate.generated', `certificate:${certificate.id}`, null, record),
        );
        return {
          certificate: toCertificateObject(certificate, now),
          ca_certificate: issuer.pem,
          ...download,
        };
      };
      return changeLicense(byIdOrKey(order), issue, { caller: call, alsoRead });
    },

    async list(request: RequestOf<typeof certificateAdminContract.listCertificates>) {
      const { license, status, cursor, limit } = request;
      const now = clock.now();
      const licenseId =
        license === undefined ? undefined : requireLicense(await licenses.find(byRef(license))).id;
      const rows = await certificates.list({ licenseId, status, before: idFromCursor(cursor), limit, now });
      return toPage(rows, limit, (certificate) => toCertificateObject(certificate, now));
    },

    async show(id: number) {
      const certificate = await certificates.find({ id });
      if (!certificate) throw notFound();
      return { certificate: toCertificateObject(certificate, clock.now()) };
    },

    /**
     * Revoking again changes nothing. Every caller waits for the CRL, including one that arrives while the CRL is
     * being rebuilt for another, and until all servers serve it. `listed` tells whether they do, and `late_servers`
     * which ones took too long (contract, section 8).
     */
    async revoke(request: RequestOf<typeof certificateContract.revokeCertificate>, call: Call) {
      const certificate = await revoke(request, call);
      await needs.publishRevocations();
      const isBuilt = !(await needs.isUnlisted(certificate));
      const late = isBuilt ? await needs.spreadList() : [];
      return {
        certificate: toCertificateObject(certificate, clock.now()),
        listed: isBuilt && late.length === 0,
        late_servers: late,
      };
    },
  };
}

export type CertificateService = ReturnType<typeof createCertificateService>;
