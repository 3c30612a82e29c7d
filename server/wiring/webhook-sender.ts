// Wires the sender for deliveries and test events.
import { readFileSync } from 'node:fs';
import type { DeliverySender } from '#server/features/webhooks/delivery-sender.ts';
import type { Config } from '#server/platform/config.ts';

/** Can be passed to a worker thread. */
export interface SenderSettings {
  timeoutMs: number;
  /** Networks that may be reached in addition to public ones. */
  allow: string[];
  /** A PEM file with certificates that are trusted in addition to the system's. */
  caFile: string | null;
}

export type SenderConfig = Pick<Config, 'webhookTimeoutSeconds' | 'webhookAllow' | 'webhookCa'>;

export function senderSettings(config: SenderConfig): SenderSettings {
  return {
    timeoutMs: config.webhookTimeoutSeconds * 1000,
    allow: config.webhookAllow,
    caFile: config.webhookCa,
  };
}

/** Loads got and its dependencies, which most servers need only in the dispatcher's worker. */
export async function openSender({ timeoutMs, allow, caFile }: SenderSettings): Promise<DeliverySender> {
  const { createDeliverySender } = await import('#server/features/webhooks/delivery-sender.ts');
  const extraCa = caFile === null ? [] : [readFileSync(caFile, 'utf8')];
  return createDeliverySender({ timeoutMs, allow, extraCa });
}
