// The attempts in progress, and what they say about their receivers.
import type { Claim } from './delivery-store.ts';
import { type Contender, planClaims, type Standing } from './dispatch-plan.ts';

/** A receiver that takes longer is not counted as working. */
const PROMPT_MS = 1000;

/** A webhook with waiting deliveries. */
export interface Candidate {
  webhookId: number;
  isDue: boolean;
  /** From its last delivery in the database; used until this process has sent one. */
  standing: Standing;
}

interface InFlight {
  leaseEndsAt: number;
  webhookId: number;
  startedAt: number;
}

/** @param now milliseconds of a monotonic clock */
export function createInFlightAttempts(now: () => number = () => performance.now()) {
  const attempts = new Map<number, InFlight>();
  const standings = new Map<number, Standing>();
  /** A counter rather than a time, to sort webhooks by least recently served. */
  const servedAt = new Map<number, number>();
  let served = 0;

  const hangs = ({ startedAt }: InFlight, at: number) => at - startedAt >= PROMPT_MS;
  /** A receiver that is slow works: hanging ones must not keep it waiting. */
  const standingAfter = (accepted: InFlight): Standing => (hangs(accepted, now()) ? 'untried' : 'working');

  return {
    begin({ id, leaseEndsAt }: Claim, webhookId: number): void {
      served += 1;
      servedAt.set(webhookId, served);
      attempts.set(id, { leaseEndsAt, webhookId, startedAt: now() });
    },

    end(deliveryId: number, delivered: boolean): void {
      const attempt = attempts.get(deliveryId);
      if (!attempt) return;
      attempts.delete(deliveryId);
      standings.set(attempt.webhookId, delivered ? standingAfter(attempt) : 'failing');
    },

    claims: (): Claim[] => [...attempts].map(([id, { leaseEndsAt }]) => ({ id, leaseEndsAt })),

    /** Milliseconds until another attempt counts as hanging and frees its slot. */
    msUntilNextHangs(): number {
      const at = now();
      const pending = [...attempts.values()].filter((attempt) => !hangs(attempt, at));
      return Math.min(...pending.map(({ startedAt }) => Math.ceil(startedAt + PROMPT_MS - at)));
    },

    /** How many deliveries to claim for each webhook. */
    plan(candidates: readonly Candidate[]): Map<number, number> {
      const at = now();
      const inFlight = Map.groupBy(attempts.values(), ({ webhookId }) => webhookId);
      const toContender = ({ webhookId, isDue, standing }: Candidate): Contender => {
        const own = inFlight.get(webhookId) ?? [];
        const known = standings.get(webhookId) ?? standing;
        const isStuck = own.some((attempt) => hangs(attempt, at));
        return { webhookId, isDue, inFlight: own.length, standing: isStuck ? 'failing' : known };
      };
      const listed = new Set(candidates.map(({ webhookId }) => webhookId));
      // A webhook that was deleted or has nothing else to send still uses the slots of its last attempts.
      const others = [...inFlight.keys()]
        .filter((webhookId) => !listed.has(webhookId))
        .map((webhookId): Candidate => ({ webhookId, isDue: false, standing: 'untried' }));
      const involved = candidates.filter(({ webhookId, isDue }) => isDue || inFlight.has(webhookId));
      const turnOf = ({ webhookId }: Candidate) => servedAt.get(webhookId) ?? 0;
      return planClaims([...involved, ...others].toSorted((a, b) => turnOf(a) - turnOf(b)).map(toContender));
    },
  };
}
