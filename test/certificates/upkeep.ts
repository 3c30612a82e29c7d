// The upkeep of certificates as its worker does it, but by a clock that the test moves.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuditService } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import type { UpkeepResult } from '#server/features/certificates/certificate-upkeep.ts';
import { composeUpkeep } from '#server/wiring/compose-certificates.ts';
import { connect } from '#server/database/connect.ts';
import { createTransactions } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import { createSealer } from '#server/platform/sealer.ts';

/**
 * Opens a second connection to the data directory's database, as the worker thread does.
 * @param beforeWriting runs before each transaction
 */
export async function runUpkeep(
  dataDir: string,
  clock: Clock,
  beforeWriting: () => Promise<unknown> = async () => {},
): Promise<UpkeepResult> {
  const masterKey = Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8'), 'base64');
  const sequelize = await connect({ url: null, file: join(dataDir, 'license-desk.db') });
  const transaction = createTransactions(sequelize);
  try {
    const { upkeep } = composeUpkeep(sequelize, {
      sealer: createSealer(masterKey),
      audit: createAuditService({ entries: createAuditStore(sequelize), clock }),
      transaction: async (...change) => {
        await beforeWriting();
        return transaction(...change);
      },
      clock,
      isClockTrusted: () => true,
    });
    return await upkeep.run();
  } finally {
    await sequelize.close();
  }
}
