// Whose turn it is: at most so many attempts in all and per registration, and one that hangs delays nobody else.

const MAX_IN_FLIGHT = 20;
export const MAX_PER_WEBHOOK = 2;

/**
 * How many deliveries to claim for each registration, in turns of one each.
 * @param due registrations that have something due, in a fixed order
 * @param inFlight how many attempts each has under way
 * @param lastServed who was given the last place; its neighbour is first now
 */
export function planClaims(
  due: readonly number[],
  inFlight: ReadonlyMap<number, number>,
  lastServed: number | undefined,
): Map<number, number> {
  const start = lastServed === undefined ? 0 : due.indexOf(lastServed) + 1;
  const order = [...due.slice(start), ...due.slice(0, start)];
  let free = MAX_IN_FLIGHT;
  for (const count of inFlight.values()) free -= count;
  const plan = new Map<number, number>();
  for (let turn = 1; turn <= MAX_PER_WEBHOOK; turn += 1) {
    for (const webhookId of order) {
      if (free <= 0) return plan;
      const taken = (inFlight.get(webhookId) ?? 0) + (plan.get(webhookId) ?? 0);
      if (taken >= MAX_PER_WEBHOOK) continue;
      plan.set(webhookId, (plan.get(webhookId) ?? 0) + 1);
      free -= 1;
    }
  }
  return plan;
}
