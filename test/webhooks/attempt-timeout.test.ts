import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limitConnecting, startTimeout } from '#server/features/webhooks/attempt-timeout.ts';

const LIMIT_MS = 5000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Passes almost the whole limit before each of these events, and then the limit. @returns the error of the socket */
async function connectSlowly(events: readonly string[], hasName: boolean): Promise<unknown> {
  const socket = new Socket();
  let failure: unknown = null;
  socket.on('error', (error) => (failure = error));
  limitConnecting(socket, LIMIT_MS, hasName);
  for (const event of events) {
    await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
    expect(failure).toBeNull();
    socket.emit(event);
  }
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 1);
  socket.destroy();
  return failure;
}

test.each([
  { events: [], hasName: true, step: 'lookup' },
  { events: ['lookup'], hasName: true, step: 'connect' },
  { events: [], hasName: false, step: 'connect' },
  { events: ['lookup', 'connect'], hasName: true, step: 'handshake' },
])('a connection that stops after $events fails at $step', async ({ events, hasName, step }) => {
  expect(await connectSlowly(events, hasName)).toMatchObject({ step, ms: LIMIT_MS });
});

test('each step has the whole time, and an open connection has no limit', async () => {
  expect(await connectSlowly(['lookup', 'connect', 'secureConnect'], true)).toBeNull();
});

test('what has arrived by then is handled first, and may cancel it', async () => {
  const expire = vi.fn<() => void>();
  const cancel = startTimeout(LIMIT_MS, expire);
  // Runs after the timer, before what it defers.
  setTimeout(cancel, LIMIT_MS);
  await vi.advanceTimersByTimeAsync(LIMIT_MS * 2);
  expect(expire).not.toHaveBeenCalled();
});
