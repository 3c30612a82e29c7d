// Generates a license's authorization tokens: an active one and those that it replaced.
import { DAY_MS } from '#server/wire/instants.ts';
import { hashSecret } from '#server/platform/secret-token.ts';
import type { LicenseHistory } from './license-history.ts';
import { type RandomSource, weighted } from './random-source.ts';

export interface SeedToken {
  plaintext: string;
  hash: string;
  name: string | null;
  status: 'active' | 'revoked' | 'replaced' | 'expired';
  createdAt: number;
  expiresAt: number;
  endedAt: number | null;
  lastUsedAt: number | null;
}

/** Minimum remaining validity of active tokens, so that a seeded directory can be used for a while. */
const LEAST_LEFT_MS = 35 * DAY_MS;
const VALIDITY_DAYS = [365, 730, 1095, 1825, 3650];
/** A token of the default validity that is younger than this has `LEAST_LEFT_MS` left. */
const OLDEST_MS = 330 * DAY_MS;
const PREDECESSOR_SHARE = 0.04;
const USED_SHARE = 0.7;

const tokenName = weighted<string | null>([
  [null, 30],
  ['Acquisition workstation', 12],
  ['CI / automation', 10],
  ['Laboratoř – stanice 1', 8],
  ['Mobile lab van', 6],
  ['Triage-Notebook', 6],
  ['Serveur d’analyse', 5],
  ['解析サーバー', 4],
  ['Рабочая станция эксперта', 4],
  ['مختبر التحليل', 2],
  ['עמדת חקירה', 2],
  ['Training room (do not use in casework)', 2],
]);

function makeSecret(random: RandomSource): { plaintext: string; hash: string } {
  const plaintext = `ldt_${random.bytes(32).toString('base64url')}`;
  return { plaintext, hash: hashSecret(plaintext) };
}

/** Returns `from` plus the shortest available validity that reaches `until`. */
function expiryReaching(until: number, from: number): number {
  const days = VALIDITY_DAYS.find((validity) => from + validity * DAY_MS >= until);
  return days === undefined ? until : from + days * DAY_MS;
}

function makeActive(random: RandomSource, license: LicenseHistory, now: number): SeedToken {
  // No tokens are issued for a revoked license.
  const until = license.revokedAt ?? now;
  const from = Math.max(license.issuedAt, until - OLDEST_MS);
  const createdAt = from + random.below(until - from);
  const isUsed = license.firstActivatedAt !== null && random.chance(USED_SHARE);
  return {
    ...makeSecret(random),
    name: tokenName(random),
    status: 'active',
    createdAt,
    expiresAt: expiryReaching(now + LEAST_LEFT_MS, createdAt),
    endedAt: null,
    lastUsedAt: isUsed ? createdAt + random.below(until - createdAt) : null,
  };
}

/** Oldest first; the last one is active. */
export function makeTokens(random: RandomSource, license: LicenseHistory, now: number): SeedToken[] {
  const active = makeActive(random, license, now);
  const room = active.createdAt - license.issuedAt;
  if (room < DAY_MS || !random.chance(PREDECESSOR_SHARE)) return [active];
  const createdAt = license.issuedAt + random.below(room - 1);
  const expiresAt = createdAt + 365 * DAY_MS;
  const endedAt = Math.min(active.createdAt, expiresAt);
  const ended = random.chance(0.25) ? 'revoked' : 'replaced';
  const previous: SeedToken = {
    ...makeSecret(random),
    name: active.name,
    status: endedAt === expiresAt ? 'expired' : ended,
    createdAt,
    expiresAt,
    endedAt,
    lastUsedAt: random.chance(USED_SHARE) ? createdAt + random.below(endedAt - createdAt) : null,
  };
  return [previous, active];
}
