// Wires the signing of license files.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { isShared } from '#server/database/sql-dialect.ts';
import { createLicenseFiles } from '#server/features/signing/license-file-service.ts';
import { createReissueStore } from '#server/features/signing/reissue-store.ts';
import { createSigningService } from '#server/features/signing/signing-service.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import type { Installation } from './compose-installation.ts';

interface Needs {
  sealer: Sealer;
  audit: Audit;
  clock: Clock;
}

export async function composeSigning(installation: Installation, { sealer, audit, clock }: Needs) {
  const { sequelize, transaction, signingKeys } = installation;
  const signing = await createSigningService({
    keys: signingKeys,
    reissue: createReissueStore(sequelize),
    sealer,
    audit,
    transaction,
    clock,
    isShared: isShared(sequelize),
  });
  await installation.complete();
  return { signing, files: createLicenseFiles({ signer: signing.signer, clock }) };
}
