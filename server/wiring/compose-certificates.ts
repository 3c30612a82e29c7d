// Wires certificates, for the service and for the maintenance job.
import { hostname, networkInterfaces } from 'node:os';
import type { Audit } from '#server/features/audit/audit-service.ts';
import {
  type AuthorityService,
  createAuthorityService,
} from '#server/features/certificates/authority-service.ts';
import { committedRestore } from '#server/features/backup/data-files.ts';
import { createAuthorityStore } from '#server/features/certificates/authority-store.ts';
import { createCertificateKeyService } from '#server/features/certificates/certificate-key-service.ts';
import {
  certificateAdminRoutes,
  certificateRoutes,
} from '#server/features/certificates/certificate-routes.ts';
import { createCertificateService } from '#server/features/certificates/certificate-service.ts';
import { createCertificateStore } from '#server/features/certificates/certificate-store.ts';
import { createCertificateUpkeep } from '#server/features/certificates/certificate-upkeep.ts';
import { createCertificateValidation } from '#server/features/certificates/certificate-validation.ts';
import { createRevocationListService } from '#server/features/certificates/revocation-list-service.ts';
import { createRevocationListStore } from '#server/features/certificates/revocation-list-store.ts';
import { createRevocationListBuilder } from '#server/features/certificates/revocation-list.ts';
import { adminContract, publicContract } from '#server/contract.ts';
import type { Database } from '#server/database/connect.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Events } from '#server/features/events/event-service.ts';
import type { ChangeLicense } from '#server/features/licenses/license-change.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { TlsSource } from '#server/platform/tls-credentials.ts';

interface UpkeepNeeds {
  sealer: Sealer;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  isClockTrusted(): boolean;
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
  const revocationList = createRevocationListBuilder({
    lists,
    findAuthority: authority.find,
    transaction,
    clock,
  });
  const upkeep = createCertificateUpkeep({ ...needs, certificates, authority, revocationList });
  return { certificates, lists, authority, upkeep };
}

interface Needs extends UpkeepNeeds {
  events: Events;
  licenses: LicenseStore;
  changeLicense: ChangeLicense;
  apiBaseUrl(): string;
  /** Runs maintenance in a job; null runs it here. */
  runUpkeep: (() => Promise<void>) | null;
  /** Where a restore waits once it is confirmed. */
  dataDir: string;
  /** Waits until the other servers serve a CRL, and returns those that do not; null if there can be none. */
  spreadList: ((number: number) => Promise<string[]>) | null;
}

export function composeCertificates(sequelize: Database, needs: Needs) {
  const { transaction, clock, audit, apiBaseUrl } = needs;
  const { certificates, lists, authority, upkeep } = composeUpkeep(sequelize, needs);
  const publishRevocations = needs.runUpkeep ?? (async () => void (await upkeep.run()));
  async function hasUnlisted(): Promise<boolean> {
    const active = await authority.find();
    return active !== null && lists.hasUnlisted(active.keyIdentifier);
  }
  const revocationList = createRevocationListService({
    lists,
    authority,
    clock,
    publishRevocations,
    hasUnlisted,
  });
  const keys = createCertificateKeyService({
    certificates,
    authority,
    audit,
    transaction,
    clock,
    apiBaseUrl,
  });
  async function spread(): Promise<string[]> {
    if (!needs.spreadList) return [];
    await revocationList.takeOver();
    return needs.spreadList(revocationList.servedNumber() ?? 0);
  }
  const service = createCertificateService({
    ...needs,
    certificates,
    addRevocation: lists.insertEntry,
    authority,
    keys,
    publishRevocations: revocationList.publish,
    spreadList: spread,
    async isUnlisted({ id, authorityKey }) {
      // Certificates of a former authority have expired, and are not in the current CRL.
      const active = await authority.find();
      return active?.keyIdentifier === authorityKey && lists.isUnlisted(id, authorityKey);
    },
  });
  const validation = createCertificateValidation({ certificates, authority, clock });
  /** The restored database has its own authority, whose certificates no other one could revoke. */
  function refuseIfRestoreWaits(): void {
    if (committedRestore(needs.dataDir) === null) return;
    throw new ApiError(
      'invalid_request',
      'the certificate authority cannot be changed while a confirmed restore is waiting for a restart of the server, because the restore would not keep the change; restart the server, or cancel the restore first',
    );
  }
  // Publishes a CRL together with the new authority: without one, relying parties would reject all certificates.
  const changed =
    <Request, Reply>(change: (request: Request, call: Call) => Promise<Reply>) =>
    async (request: Request, call: Call): Promise<Reply> => {
      refuseIfRestoreWaits();
      const reply = await change(request, call);
      await revocationList.publish();
      return reply;
    };
  const changing: AuthorityService = {
    ...authority,
    renew: changed(authority.renew),
    import: changed(authority.import),
  };
  const services = { certificates: service, keys, validation, revocationList };
  return {
    authority,
    lists,
    isUpkeepDue: upkeep.isDue,
    lookAgain: revocationList.lookAgain,
    takeOverList: revocationList.takeOver,
    servedList: revocationList.servedNumber,
    routes: certificateRoutes(publicContract, services),
    adminRoutes: [
      ...certificateRoutes(adminContract, services),
      ...certificateAdminRoutes(service, changing),
    ],
  };
}

interface TlsNeeds {
  config: Pick<Config, 'tls' | 'dataDir' | 'host' | 'baseUrl'>;
  authority: AuthorityService;
  sealer: Sealer;
  clock: Clock;
  logger: Logger;
}

/** Each mode is loaded on demand. */
export async function openTls({ config, ...needs }: TlsNeeds): Promise<TlsSource | null> {
  const { tls, dataDir } = config;
  if (tls.mode === 'off') return null;
  if (tls.mode === 'files') {
    const { openTlsFiles } = await import('#server/platform/tls-files.ts');
    return openTlsFiles(tls, needs);
  }
  const [{ openServerCertificate }, { serverNames }] = await Promise.all([
    import('#server/features/certificates/server-certificate.ts'),
    import('#server/features/certificates/server-names.ts'),
  ]);
  const names = () => serverNames(config, { hostname: hostname(), interfaces: networkInterfaces() });
  return openServerCertificate({ ...needs, dataDir, names });
}
