// The secrets of a webhook: the current one, and those that also sign for a while after a rotation.
import { recentMap } from '#server/platform/recent-map.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { type SigningKeys, signingKeysOf } from './delivery-signature.ts';
import type { WebhookRow } from './webhook-model.ts';

export const WEBHOOK_SECRET = 'webhook-secret';

/** How long a replaced secret also signs. */
const OVERLAP_MS = DAY_MS;
/** So many secrets sign at the same time; a further rotation drops the oldest. */
const MAX_SIGNING = 5;
/** Far more secrets than are usually in use. */
const MAX_KEPT = 1000;

/** The columns of a webhook that hold its secrets. */
export type WebhookSecrets = Pick<
  WebhookRow,
  'secretSealed' | 'previousSecretSealed' | 'overlapEndsAt' | 'olderSecrets'
>;

interface ReplacedSecret {
  sealed: string;
  /** Epoch milliseconds. It signs until then. */
  endsAt: number;
}

export interface WebhookKeys {
  keys: SigningKeys;
  /** Those of replaced secrets during the overlap after a rotation, newest first. */
  previousKeys: SigningKeys[];
}

/** @param now epoch milliseconds @throws SealError */
export type OpenWebhookKeys = (secrets: WebhookSecrets, now: number) => WebhookKeys;

/** Those that still sign, newest first. */
function replacedSecrets(secrets: WebhookSecrets, now: number): ReplacedSecret[] {
  const { previousSecretSealed: sealed, overlapEndsAt: endsAt, olderSecrets } = secrets;
  if (sealed === null || endsAt === null) return [];
  const older = olderSecrets === null ? [] : (JSON.parse(olderSecrets) as ReplacedSecret[]);
  return [{ sealed, endsAt }, ...older].filter((replaced) => now < replaced.endsAt);
}

/** @param sealed the secret of a new webhook */
export function unrotatedSecret(sealed: string): WebhookSecrets {
  return { secretSealed: sealed, previousSecretSealed: null, overlapEndsAt: null, olderSecrets: null };
}

/** @param sealed the new secret @param now epoch milliseconds */
export function rotatedSecrets(secrets: WebhookSecrets, sealed: string, now: number) {
  const older = replacedSecrets(secrets, now).slice(0, MAX_SIGNING - 2);
  return {
    secretSealed: sealed,
    previousSecretSealed: secrets.secretSealed,
    overlapEndsAt: now + OVERLAP_MS,
    olderSecrets: older.length === 0 ? null : JSON.stringify(older),
  } satisfies WebhookSecrets;
}

/** Keeps the keys of recently opened secrets: opening one costs more than its signatures. */
export function createWebhookKeys(sealer: Sealer): OpenWebhookKeys {
  const opened = recentMap<string, SigningKeys>(MAX_KEPT);

  function open(sealed: string): SigningKeys {
    const known = opened.get(sealed);
    if (known) return known;
    const keys = signingKeysOf(sealer.open(WEBHOOK_SECRET, sealed).toString());
    opened.set(sealed, keys);
    return keys;
  }

  return (secrets, now) => ({
    keys: open(secrets.secretSealed),
    previousKeys: replacedSecrets(secrets, now).map(({ sealed }) => open(sealed)),
  });
}
