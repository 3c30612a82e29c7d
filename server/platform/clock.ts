/** Where the time comes from: epoch milliseconds. Handed in, so that tests can move it. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
