// Notices that the time of day has moved by more than the time that passed: a clock that was set, a computer that slept.

const EVERY_MS = 10_000;
/** A busy process is late by less, and a clock that is corrected little by little never comes near. */
const JUMP_MS = 5000;

/** @param onJump with by how many seconds; negative: the clock was set back */
export function watchClock(onJump: (seconds: number) => void): { end(): void } {
  const difference = () => Date.now() - performance.now();
  let before = difference();
  const timer = setInterval(() => {
    const jump = difference() - before;
    before += jump;
    if (Math.abs(jump) >= JUMP_MS) onJump(Math.round(jump / 1000));
  }, EVERY_MS).unref();
  return { end: () => clearInterval(timer) };
}
