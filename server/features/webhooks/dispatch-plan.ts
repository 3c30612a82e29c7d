// Decides which webhooks may start attempts. A hanging attempt costs little more than a socket, so failing receivers
// get many slots, but never those that working receivers need. Pure.

/**
 * What to expect of a receiver. `working`: accepts deliveries within a second. `failing`: the last delivery failed, or
 * an attempt is hanging. `untried`: unknown, or it accepted the last delivery later than that.
 */
export type Standing = 'failing' | 'untried' | 'working';

/** Concurrent attempts, including those to working receivers that have all begun to hang. */
const MAX_IN_FLIGHT = 300;

/** Attempts to failing receivers. Half of them are reserved for webhooks without an attempt in progress. */
const MAX_FAILING = 200;

/** Untried receivers may use these as well, because most of them work. */
const MAX_FAILING_AND_UNTRIED = 240;

/** Many hanging new receivers count as failing after a second; until then they leave slots to the working ones. */
const MAX_UNTRIED = 64;

/** Attempts that should finish within a second. Limited because each takes CPU time. */
export const MAX_RESPONSIVE = 100;

/** A working receiver gets few deliveries at a time, and so roughly in order. */
const MAX_PER_WEBHOOK = 2;

/** Retries must start on time even if each attempt hangs. */
const MAX_PER_FAILING_WEBHOOK = 20;

/** From this many attempts on, only webhooks without an attempt in progress get a slot. */
const NO_SECOND_FROM = { failing: MAX_FAILING / 2, responsive: MAX_RESPONSIVE / 2 };

export interface Contender {
  webhookId: number;
  standing: Standing;
  /** Attempts in progress. */
  inFlight: number;
  /** Whether a delivery waits to be sent. */
  isDue: boolean;
}

type Counts = Record<Standing, number>;

function hasSlot(standing: Standing, { failing, untried, working }: Counts): boolean {
  if (failing + untried + working >= MAX_IN_FLIGHT) return false;
  if (standing === 'failing') return failing < MAX_FAILING;
  if (untried + working >= MAX_RESPONSIVE) return false;
  if (standing === 'working') return true;
  return untried < MAX_UNTRIED && failing + untried < MAX_FAILING_AND_UNTRIED;
}

function hasSecondSlot(standing: Standing, { failing, untried, working }: Counts): boolean {
  if (standing === 'failing') return failing < NO_SECOND_FROM.failing;
  return untried + working < NO_SECOND_FROM.responsive;
}

/**
 * How many deliveries to claim for each webhook. All webhooks get their first slot before any gets a second.
 * @param contenders all webhooks with a due delivery or an attempt in progress, least recently served first
 */
export function planClaims(contenders: readonly Contender[]): Map<number, number> {
  const counts: Counts = { failing: 0, untried: 0, working: 0 };
  for (const { standing, inFlight } of contenders) counts[standing] += inFlight;
  const plan = new Map<number, number>();
  let waiting = contenders.filter(({ isDue }) => isDue);
  for (let slot = 1; slot <= MAX_PER_FAILING_WEBHOOK && waiting.length > 0; slot += 1) {
    const next: Contender[] = [];
    for (const contender of waiting) {
      const { webhookId, standing, inFlight } = contender;
      const has = inFlight >= slot;
      const may = has || (hasSlot(standing, counts) && (slot === 1 || hasSecondSlot(standing, counts)));
      if (!may) continue;
      if (!has) {
        counts[standing] += 1;
        plan.set(webhookId, slot - inFlight);
      }
      if (standing === 'failing' || slot < MAX_PER_WEBHOOK) next.push(contender);
    }
    waiting = next;
  }
  return plan;
}
