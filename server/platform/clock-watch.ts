// Detects that the wall clock moved by more than the elapsed time: the clock was set, or the computer slept.

const EVERY_MS = 10_000;
/** More than the delay of a busy process or a gradual clock correction. */
const JUMP_MS = 5000;

/** @param onJump receives the seconds of the jump; negative if the clock was set back */
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
