// Certificate maintenance as a worker thread with a separate database connection.
import { parentPort, workerData } from 'node:worker_threads';
import { createAuditService } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import { composeUpkeep } from '#server/wiring/compose-certificates.ts';
import { connect, type DatabaseLocation } from '#server/database/connect.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { isAhead } from '#server/platform/clock-guard.ts';
import { sharedClock } from '#server/platform/shared-time.ts';
import { createSealer } from '#server/platform/sealer.ts';
import { reportingGuard } from './worker-guard.ts';

export interface CertificateUpkeepData {
  location: DatabaseLocation;
  masterKey: Uint8Array;
  /** The clock guard's shared offset. */
  trustedOffset: SharedArrayBuffer;
  /** The buffer of the time that servers share; null for the clock of this machine. */
  sharedTime: SharedArrayBuffer | null;
}

/** After a run that a caller waited for, the next one often follows soon. */
const LINGER_MS = 20_000;

const { location, masterKey, trustedOffset, sharedTime } = workerData as CertificateUpkeepData;
const clock = sharedClock(sharedTime);
const trusted = new Float64Array(trustedOffset);

const state = { asked: 0, isCancelled: false };
let wake = () => {};
parentPort?.on('message', (message: unknown) => {
  if (message === 'cancel') state.isCancelled = true;
  if (typeof message === 'number') state.asked = message;
  wake();
});

/** Waits for the next message, or until the time is up. */
function linger(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

const sequelize = await connect(location, { guard: reportingGuard(parentPort) });
const { upkeep } = composeUpkeep(sequelize, {
  sealer: createSealer(Buffer.from(masterKey)),
  audit: createAuditService({ entries: createAuditStore(sequelize), clock }),
  transaction: createTransactions(sequelize),
  clock,
  isClockTrusted: () => !isAhead(clock.now(), trusted[0] ?? 0),
});

try {
  let answered = -1;
  while (!state.isCancelled && answered < state.asked) {
    const ticket = state.asked;
    const startedAt = performance.now();
    const result = await upkeep.run();
    parentPort?.postMessage({ ...result, ms: Math.round(performance.now() - startedAt), answered: ticket });
    answered = ticket;
    if (ticket > 0 && state.asked === ticket && !state.isCancelled) await linger();
  }
} finally {
  await sequelize.close();
  // Nothing keeps the thread alive after this.
  parentPort?.close();
}
