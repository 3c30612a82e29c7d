import { type Handlers, implement, prepared, type Route } from '#server/platform/route.ts';
import type { AuthorityService } from './authority-service.ts';
import { certificateAdminContract, type certificateContract } from './certificate-contract.ts';
import type { CertificateKeys } from './certificate-key-service.ts';
import type { CertificateService } from './certificate-service.ts';
import type { CertificateValidation } from './certificate-validation.ts';
import type { RevocationListService } from './revocation-list-service.ts';

interface Services {
  certificates: CertificateService;
  keys: CertificateKeys;
  validation: CertificateValidation;
  revocationList: RevocationListService;
}

/** @param rows the public endpoints, or the same endpoints on the admin listener */
export function certificateRoutes(rows: typeof certificateContract, services: Services): Route[] {
  const { certificates, keys, validation, revocationList } = services;
  const handlers: Handlers<typeof certificateContract> = {
    generateCertificate: prepared(certificates.prepare, certificates.generate),
    downloadKey: (request, call) => keys.download(request, call),
    validateCertificate: (request) => validation.validate(request),
    revocationList: (request, call) => revocationList.serve(request, call),
    revokeCertificate: (request, call) => certificates.revoke(request, call),
  };
  return implement(rows, handlers);
}

export function certificateAdminRoutes(
  certificates: CertificateService,
  authority: AuthorityService,
): Route[] {
  return implement(certificateAdminContract, {
    listCertificates: (request) => certificates.list(request),
    showCertificate: ({ id }) => certificates.show(id),
    showAuthority: () => authority.show(),
    renewAuthority: authority.renew,
    importAuthority: (request, call) => authority.import(request, call),
  });
}
