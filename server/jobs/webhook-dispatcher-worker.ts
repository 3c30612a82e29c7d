// The webhook dispatcher as a worker thread with a separate database connection.
import { parentPort, workerData } from 'node:worker_threads';
import { connect, type DatabaseLocation } from '#server/database/connect.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { sharedClock } from '#server/platform/shared-time.ts';
import { createSealer } from '#server/platform/sealer.ts';
import { createDispatcher } from '#server/features/webhooks/dispatcher.ts';
import { createDeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import { createWebhookStore } from '#server/features/webhooks/webhook-store.ts';
import { openSender, type SenderSettings } from '#server/wiring/webhook-sender.ts';
import { reportingGuard } from './worker-guard.ts';

export interface DispatcherData {
  location: DatabaseLocation;
  masterKey: Uint8Array;
  backoffMs: number;
  sender: SenderSettings;
  /** The buffer of the time that servers share; null for the clock of this machine. */
  sharedTime: SharedArrayBuffer | null;
}

const data = workerData as DispatcherData;
const ALIVE_EVERY_MS = 5000;
let aliveAt = -Infinity;
/** Thousands of deliveries per minute do not need as many messages. */
const TELL_EVERY_MS = 200;
let telling: NodeJS.Timeout | undefined;

const sequelize = await connect(data.location, { guard: reportingGuard(parentPort) });
const dispatcher = createDispatcher({
  store: {
    ...createDeliveryStore(sequelize),
    noteHealth: createWebhookStore(sequelize).noteHealth,
  },
  transaction: createTransactions(sequelize),
  sender: await openSender(data.sender),
  sealer: createSealer(Buffer.from(data.masterKey)),
  clock: sharedClock(data.sharedTime),
  backoffMs: data.backoffMs,
  timeoutMs: data.sender.timeoutMs,
  alone: data.location.url === null,
  onAlive() {
    if (performance.now() - aliveAt < ALIVE_EVERY_MS) return;
    aliveAt = performance.now();
    parentPort?.postMessage({ alive: true });
  },
  onProgress() {
    telling ??= setTimeout(() => {
      telling = undefined;
      parentPort?.postMessage({ alive: true, sent: true });
    }, TELL_EVERY_MS).unref();
  },
  onError(error) {
    parentPort?.postMessage({ alive: true, error: (error as Error).message });
  },
  onRecovered() {
    parentPort?.postMessage({ alive: true, recovered: true });
  },
});

parentPort?.on('message', (message) => {
  if (message === 'cancel') dispatcher.stop();
  if (message === 'wake') dispatcher.wake();
});

try {
  await dispatcher.run();
} finally {
  await sequelize.close();
  // Nothing keeps the thread alive after this.
  parentPort?.close();
}
