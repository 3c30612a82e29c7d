// When attempts start while receivers hang (contract, section 6: retries are never early and at most 10 % late).
import { describe, expect, it } from 'vitest';
import {
  type SimulatedAttempt,
  type SimulatedDispatcher,
  simulateDispatcher,
} from './simulated-dispatcher.ts';

const SCALES = [
  { scale: 'with a unit of 1 s', backoffMs: 1000, timeoutMs: 2000 },
  { scale: 'with a unit of 60 s', backoffMs: 60_000, timeoutMs: 30_000 },
];

/** Six attempts that all time out. */
const cycleMs = ({ backoffMs, timeoutMs }: { backoffMs: number; timeoutMs: number }) =>
  6 * timeoutMs + 31 * backoffMs * 1.1;

/** How much longer than planned each retry waited, as a share of its delay. */
function retryLateness(attempts: readonly SimulatedAttempt[], backoffMs: number): number[] {
  return [...Map.groupBy(attempts, ({ deliveryId }) => deliveryId).values()].flatMap((own) =>
    own.slice(1).map(({ startedAt }, index) => {
      const delay = backoffMs * 2 ** index;
      return (startedAt - (own[index]?.endedAt ?? NaN) - delay) / delay;
    }),
  );
}

function expectOnTime(attempts: readonly SimulatedAttempt[], backoffMs: number): void {
  const lateness = retryLateness(attempts, backoffMs);
  expect(Math.min(...lateness)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...lateness)).toBeLessThanOrEqual(0.1);
}

/** An event every 200 ms for these webhooks. */
async function passWithEvents(simulation: SimulatedDispatcher, webhooks: readonly number[], ms: number) {
  for (let passed = 0; passed < ms; passed += 200) {
    simulation.causeEvent(webhooks);
    await simulation.pass(200);
  }
}

describe.each(SCALES)('$scale', ({ backoffMs, timeoutMs }) => {
  const simulate = () => simulateDispatcher({ backoffMs, timeoutMs });
  const wholeCycle = cycleMs({ backoffMs, timeoutMs });

  it('19 hanging receivers are retried on time next to a working one', async () => {
    const simulation = simulate();
    const hanging = simulation.addWebhooks(19, 'hangs');
    const working = simulation.addWebhooks(1, 'accepts', { isKnown: true });
    simulation.causeEvent([...hanging, ...working]);
    await passWithEvents(simulation, working, 15_000);
    await simulation.pass(wholeCycle);
    expect(simulation.attemptsOf(hanging)).toHaveLength(19 * 6);
    expectOnTime(simulation.attemptsOf(hanging), backoffMs);
    expect(simulation.longestWait(working)).toBeLessThan(100);
  });

  it('19 deliveries to one hanging receiver are retried on time', async () => {
    const simulation = simulate();
    const [webhook = 0] = simulation.addWebhooks(1, 'hangs');
    simulation.causeEvent(Array.from({ length: 19 }, () => webhook));
    await simulation.pass(wholeCycle + timeoutMs);
    expect(simulation.attempts).toHaveLength(19 * 6);
    expectOnTime(simulation.attempts, backoffMs);
  });

  it('19 deliveries to one receiver that refuses them are retried on time', async () => {
    const simulation = simulate();
    const [webhook = 0] = simulation.addWebhooks(1, 'refuses');
    simulation.causeEvent(Array.from({ length: 19 }, () => webhook));
    await simulation.pass(wholeCycle);
    expect(simulation.attempts).toHaveLength(19 * 6);
    expectOnTime(simulation.attempts, backoffMs);
  });

  it.each([
    ['known to work', true],
    ['as new as they are', false],
  ])('30 new hanging receivers do not delay one %s', async (_which, isKnown) => {
    const simulation = simulate();
    const hanging = simulation.addWebhooks(30, 'hangs');
    const working = simulation.addWebhooks(1, 'accepts', { isKnown });
    simulation.causeEvent([...hanging, ...working]);
    await passWithEvents(simulation, working, 10_000);
    await simulation.pass(wholeCycle);
    expect(simulation.longestWait(working)).toBeLessThan(100);
    expectOnTime(simulation.attemptsOf(hanging), backoffMs);
  });

  it('a hanging receiver with 1,000 deliveries delays no retry of 18 others', async () => {
    const simulation = simulate();
    const [flooded = 0] = simulation.addWebhooks(1, 'hangs');
    const others = simulation.addWebhooks(18, 'hangs');
    simulation.causeEvent(Array.from({ length: 1000 }, () => flooded));
    simulation.causeEvent(others);
    await simulation.pass(wholeCycle);
    expect(simulation.attemptsOf(others)).toHaveLength(18 * 6);
    expectOnTime(simulation.attemptsOf(others), backoffMs);
  });

  it('500 hanging receivers share their slots, and 20 working ones are not affected', async () => {
    const simulation = simulate();
    const hanging = simulation.addWebhooks(500, 'hangs');
    const working = simulation.addWebhooks(20, 'accepts', { isKnown: true });
    simulation.causeEvent([...hanging, ...working]);
    await passWithEvents(simulation, working, 10_000);
    await simulation.pass(3 * timeoutMs);
    const counts = Map.groupBy(simulation.attemptsOf(hanging), ({ webhookId }) => webhookId);
    const attempts = [...counts.values()].map(({ length }) => length);
    expect(attempts).toHaveLength(500);
    expect(Math.max(...attempts) - Math.min(...attempts)).toBeLessThanOrEqual(2);
    await simulation.pass(wholeCycle);
    expect(simulation.longestWait(working)).toBeLessThan(100);
    // All of them together need two and a half times the slots for failing receivers.
    expect(simulation.longestWait(hanging)).toBeLessThan(5 * timeoutMs);
    expect(simulation.mostUnderWay()).toBeLessThanOrEqual(300);
    expect(simulation.errors).toEqual([]);
  });

  it('150 working receivers that begin to hang at once delay 20 others for less than two seconds', async () => {
    const simulation = simulate();
    const outage = simulation.addWebhooks(150, 'accepts', { isKnown: true });
    const working = simulation.addWebhooks(20, 'accepts', { isKnown: true });
    simulation.causeEvent([...outage, ...working]);
    await simulation.pass(1000);
    simulation.setBehavior(outage, 'hangs');
    simulation.causeEvent(outage);
    await passWithEvents(simulation, working, 5000);
    expect(simulation.longestWait(working)).toBeLessThan(2000);
  });
});
