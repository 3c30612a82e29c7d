// Wires the signing of license files.
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { Database } from '#server/database/connect.ts';
import { isShared } from '#server/database/sql-dialect.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { createLicenseFiles } from '#server/features/signing/license-file-service.ts';
import { createReissueStore } from '#server/features/signing/reissue-store.ts';
import type { SigningKeyStore } from '#server/features/signing/signing-key-store.ts';
import { createSigningService } from '#server/features/signing/signing-service.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import type { Installation } from './compose-installation.ts';

interface Needs {
  sealer: Sealer;
  audit: Audit;
  clock: Clock;
}

interface ServiceNeeds extends Needs {
  keys: SigningKeyStore;
  transaction: RunTransaction;
}

/** For the service, and for a restored database. */
export const composeSigningService = (sequelize: Database, needs: ServiceNeeds) =>
  createSigningService({
    ...needs,
    reissue: createReissueStore(sequelize),
    isShared: isShared(sequelize),
  });

export async function composeSigning(installation: Installation, { sealer, audit, clock }: Needs) {
  const { sequelize, transaction, signingKeys: keys } = installation;
  const signing = await composeSigningService(sequelize, { keys, sealer, audit, transaction, clock });
  await installation.complete();
  return { signing, files: createLicenseFiles({ signer: signing.signer, clock }) };
}
