// The construction of certificates, for the service and for the job that does their upkeep.
import type { Audit } from './audit/audit-service.ts';
import { createAuthorityService } from './certificates/authority-service.ts';
import { createAuthorityStore } from './certificates/authority-store.ts';
import { createCertificateKeyService } from './certificates/certificate-key-service.ts';
import { certificateAdminRoutes, certificateRoutes } from './certificates/certificate-routes.ts';
import { createCertificateService } from './certificates/certificate-service.ts';
import { createCertificateStore } from './certificates/certificate-store.ts';
import { createCertificateUpkeep } from './certificates/certificate-upkeep.ts';
import { createCertificateValidation } from './certificates/certificate-validation.ts';
import { createRevocationListService } from './certificates/revocation-list-service.ts';
import { createRevocationListStore } from './certificates/revocation-list-store.ts';
import { createRevocationListBuilder } from './certificates/revocation-list.ts';
import { adminContract, publicContract } from './contract.ts';
import type { Database } from './database/connect.ts';
import type { RunTransaction } from './database/transaction.ts';
import type { Events } from './events/event-service.ts';
import { byIdOrKey, byRef, licenseNotFound } from './licenses/license-reference.ts';
import type { LicenseStore } from './licenses/license-store.ts';
import type { Clock } from './platform/clock.ts';
import type { Sealer } from './platform/sealer.ts';

interface UpkeepNeeds {
  sealer: Sealer;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

export function composeUpkeep(sequelize: Database, needs: UpkeepNeeds) {
  const { transaction, clock } = needs;
  const certificates = createCertificateStore(sequelize);
  const lists = createRevocationListStore(sequelize);
  const authority = createAuthorityService({
    ...needs,
    authorities: createAuthorityStore(sequelize),
    certificates,
  });
  const revocationList = createRevocationListBuilder({ lists, transaction, clock });
  const upkeep = createCertificateUpkeep({ certificates, authority, revocationList, transaction, clock });
  return { certificates, lists, authority, upkeep };
}

interface Needs extends UpkeepNeeds {
  events: Events;
  licenses: LicenseStore;
  apiBaseUrl(): string;
  /** Has a job do the upkeep; null: it is done here. */
  runUpkeep: (() => Promise<void>) | null;
}

export function composeCertificates(sequelize: Database, needs: Needs) {
  const { transaction, clock, audit, apiBaseUrl } = needs;
  const { certificates, lists, authority, upkeep } = composeUpkeep(sequelize, needs);
  const publishRevocations = needs.runUpkeep ?? (async () => void (await upkeep.run()));
  const revocationList = createRevocationListService({ lists, authority, publishRevocations });
  const keys = createCertificateKeyService({
    certificates,
    authority,
    audit,
    transaction,
    clock,
    apiBaseUrl,
  });
  const service = createCertificateService({
    ...needs,
    certificates,
    authority,
    keys,
    byRef,
    byIdOrKey,
    licenseNotFound,
    publishRevocations: revocationList.publish,
  });
  const validation = createCertificateValidation({ certificates, authority, clock });
  const services = { certificates: service, keys, validation, revocationList };
  return {
    authority,
    routes: certificateRoutes(publicContract, services),
    adminRoutes: [
      ...certificateRoutes(adminContract, services),
      ...certificateAdminRoutes(service, authority),
    ],
  };
}
