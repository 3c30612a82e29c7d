// Whose turn it is: at most so many attempts in all and per registration, and those that hang delay nobody else. Pure.

const MAX_IN_FLIGHT = 20;
export const MAX_PER_WEBHOOK = 2;

/** With so many places taken nobody is given a second one, so that those that begin to hang together take one each. */
const NO_SECOND_FROM = 10;

/** What to expect of a registration: that it keeps a place for long, anything, or that it gives it back at once. */
export type Standing = 'slow' | 'untried' | 'prompt';

/**
 * How many places those of a standing, and of the ones before it, may have together. Whatever the others do, and
 * however many they are, the rest is there for those that answer promptly.
 */
const CEILINGS: readonly (readonly [standing: Standing, places: number])[] = [
  ['slow', 10],
  ['untried', 16],
  ['prompt', MAX_IN_FLIGHT],
];

export interface Contender {
  webhookId: number;
  standing: Standing;
  /** Attempts under way. */
  taken: number;
  /** Something of it waits to be sent. */
  isDue: boolean;
}

/** Counts places against the ceilings. */
function openPlaces(contenders: readonly Contender[]) {
  const left = new Map<Standing, number>(CEILINGS);
  const take = (standing: Standing, count: number) => {
    const rank = CEILINGS.findIndex(([name]) => name === standing);
    for (const [name] of CEILINGS.slice(rank)) left.set(name, (left.get(name) ?? 0) - count);
  };
  const hasRoom = (standing: Standing) => {
    const rank = CEILINGS.findIndex(([name]) => name === standing);
    return CEILINGS.slice(rank).every(([name]) => (left.get(name) ?? 0) > 0);
  };
  for (const { standing, taken } of contenders) take(standing, taken);
  return { take, hasRoom, taken: () => MAX_IN_FLIGHT - (left.get('prompt') ?? 0) };
}

/**
 * How many deliveries to claim for each registration.
 * @param contenders everybody with something due or under way; who was served longest ago comes first
 */
export function planClaims(contenders: readonly Contender[]): Map<number, number> {
  const places = openPlaces(contenders);
  const plan = new Map<number, number>();
  const give = ({ webhookId, standing }: Contender) => {
    plan.set(webhookId, (plan.get(webhookId) ?? 0) + 1);
    places.take(standing, 1);
  };
  const due = contenders.filter(({ isDue }) => isDue);
  for (const contender of due) {
    if (contender.taken === 0 && places.hasRoom(contender.standing)) give(contender);
  }
  for (const contender of due) {
    const taken = contender.taken + (plan.get(contender.webhookId) ?? 0);
    // Without a first place there is no second one.
    if (taken === 0 || taken >= MAX_PER_WEBHOOK || places.taken() >= NO_SECOND_FROM) continue;
    if (places.hasRoom(contender.standing)) give(contender);
  }
  return plan;
}
