import { describe, expect, it, vi } from 'vitest';
import { createClockGuard, isAhead, monotonicMs } from '#server/platform/clock-guard.ts';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

function guarded(scanSeconds = 60) {
  let wall = Date.UTC(2035, 0, 1);
  let monotonic = 1000;
  const onHeld = vi.fn();
  const onTrusted = vi.fn();
  const guard = createClockGuard({
    scanSeconds,
    wallMs: () => wall,
    monotonic: () => monotonic,
    onHeld,
    onTrusted,
  });
  return {
    guard,
    onHeld,
    onTrusted,
    now: () => wall,
    pass(ms: number) {
      wall += ms;
      monotonic += ms;
    },
    jump(ms: number) {
      wall += ms;
    },
  };
}

describe('the clock guard', () => {
  it('trusts a clock that runs, drifts, or is corrected by up to a day', () => {
    const clock = guarded();
    for (const jump of [0, 30_000, -30_000, HOUR_MS, -HOUR_MS, 23 * HOUR_MS, -YEAR_MS]) {
      clock.pass(60_000);
      clock.jump(jump);
      expect(clock.guard.isTrusted()).toBe(true);
    }
    expect(clock.onHeld).not.toHaveBeenCalled();
  });

  it('distrusts a clock that jumped ahead until it has stayed there for ten scans', () => {
    const clock = guarded();
    clock.jump(5 * YEAR_MS);
    expect(clock.guard.isTrusted()).toBe(false);
    clock.pass(599_000);
    expect(clock.guard.isTrusted()).toBe(false);
    clock.pass(1000);
    expect(clock.guard.isTrusted()).toBe(true);
    expect(clock.onHeld).toHaveBeenCalledExactlyOnceWith(5 * YEAR_MS);
    expect(clock.onTrusted).toHaveBeenCalledOnce();
  });

  it('trusts it at once when it goes back', () => {
    const clock = guarded();
    clock.jump(5 * YEAR_MS);
    expect(clock.guard.isTrusted()).toBe(false);
    clock.pass(8000);
    clock.jump(-5 * YEAR_MS);
    expect(clock.guard.isTrusted()).toBe(true);
    expect(clock.onTrusted).toHaveBeenCalledOnce();
  });

  it('starts over when it jumps again', () => {
    const clock = guarded();
    clock.jump(YEAR_MS);
    clock.guard.isTrusted();
    clock.pass(599_000);
    clock.jump(YEAR_MS);
    clock.pass(2000);
    expect(clock.guard.isTrusted()).toBe(false);
    clock.pass(598_000);
    expect(clock.guard.isTrusted()).toBe(false);
    clock.pass(2000);
    expect(clock.guard.isTrusted()).toBe(true);
  });

  it('confirms sooner where scans are more frequent, between 15 seconds and ten minutes', () => {
    const frequent = guarded(0.2);
    frequent.jump(YEAR_MS);
    expect(frequent.guard.isTrusted()).toBe(false);
    frequent.pass(14_000);
    expect(frequent.guard.isTrusted()).toBe(false);
    frequent.pass(1000);
    expect(frequent.guard.isTrusted()).toBe(true);
    const rare = guarded(86_400);
    rare.jump(YEAR_MS);
    expect(rare.guard.isTrusted()).toBe(false);
    rare.pass(600_000);
    expect(rare.guard.isTrusted()).toBe(true);
  });

  it('has a clock that passes over a jump until it is trusted', () => {
    const clock = guarded();
    const start = clock.now();
    const steady = clock.guard.steady(clock);
    clock.pass(1000);
    clock.jump(23 * HOUR_MS);
    expect(steady.now()).toBe(start + 1000 + 23 * HOUR_MS);
    clock.jump(-23 * HOUR_MS);
    expect(steady.now()).toBe(start + 1000);
    clock.jump(YEAR_MS);
    expect(steady.now()).toBe(start + 1000);
    clock.pass(2000);
    expect(steady.now()).toBe(start + 3000);
    clock.pass(598_000);
    expect(steady.now()).toBe(start + 601_000 + YEAR_MS);
  });

  it('notifies workers through a shared offset', () => {
    const guard = createClockGuard({ scanSeconds: 60, onHeld() {}, onTrusted() {} });
    const [offset = 0] = new Float64Array(guard.shared);
    expect(Math.abs(offset - (Date.now() - monotonicMs()))).toBeLessThan(HOUR_MS);
    expect(isAhead(Date.now(), offset)).toBe(false);
    expect(isAhead(Date.now() + 5 * YEAR_MS, offset)).toBe(true);
  });
});
