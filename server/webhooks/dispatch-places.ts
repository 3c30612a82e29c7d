// The places that attempts are made from: who has them, who had one last, and how long each registration keeps its own.
import { type Contender, MAX_PER_WEBHOOK, planClaims, type Standing } from './dispatch-plan.ts';

/** An attempt that takes longer holds up others. */
const PROMPT_MS = 1000;

/** A registration with deliveries that wait. */
export interface Candidate {
  webhookId: number;
  isDue: boolean;
  /** What its last delivery tells, for as long as none was sent from here. */
  standing: Standing;
}

interface Place {
  webhookId: number;
  since: number;
}

/** @param now milliseconds by a clock that nobody sets */
export function createPlaces(now: () => number = () => performance.now()) {
  const places = new Map<number, Place>();
  const standings = new Map<number, Standing>();
  /** By the turns that each was last given a place in. */
  const servedIn = new Map<number, number>();
  let turns = 0;

  const placesByWebhook = () => Map.groupBy(places.values(), ({ webhookId }) => webhookId);

  return {
    take(deliveryId: number, webhookId: number): void {
      turns += 1;
      places.set(deliveryId, { webhookId, since: now() });
      servedIn.set(webhookId, turns);
    },
    leave(deliveryId: number): void {
      const place = places.get(deliveryId);
      if (!place) return;
      places.delete(deliveryId);
      standings.set(place.webhookId, now() - place.since > PROMPT_MS ? 'slow' : 'prompt');
    },
    /** Registrations that have all the places that one may have. */
    full(): Set<number> {
      const full = [...placesByWebhook()].filter(([, own]) => own.length >= MAX_PER_WEBHOOK);
      return new Set(full.map(([webhookId]) => webhookId));
    },
    deliveryIds: () => [...places.keys()],
    /** How many deliveries to claim for each registration. */
    plan(candidates: readonly Candidate[]): Map<number, number> {
      const held = placesByWebhook();
      const toContender = ({ webhookId, isDue, standing }: Candidate): Contender => {
        const own = held.get(webhookId) ?? [];
        const hangs = own.some(({ since }) => now() - since > PROMPT_MS);
        const known = standings.get(webhookId) ?? standing;
        return { webhookId, isDue, taken: own.length, standing: hangs ? 'slow' : known };
      };
      const turnOf = ({ webhookId }: Candidate) => servedIn.get(webhookId) ?? 0;
      const listed = new Set(candidates.map(({ webhookId }) => webhookId));
      // Of a registration that is gone, or has nothing else to send, the last attempts may still be under way.
      const others = [...held.keys()]
        .filter((webhookId) => !listed.has(webhookId))
        .map((webhookId): Candidate => ({ webhookId, isDue: false, standing: 'untried' }));
      const involved = candidates.filter(({ webhookId, isDue }) => isDue || held.has(webhookId));
      const inTurn = [...involved, ...others].toSorted((a, b) => turnOf(a) - turnOf(b));
      return planClaims(inTurn.map(toContender));
    },
  };
}
