// Signals that Windows makes of what happens to a console (process, "Signal events", in Node's documentation).
import { expect, it, vi } from 'vitest';
import { reloadSignal } from '#server/process/reload-signal.ts';
import { stopSignal } from '#server/process/stop-signal.ts';

/** What `listen` has added for the signal. It is taken off again, because the process runs other tests, too. */
function listenersOf(signal: NodeJS.Signals, listen: () => void): (() => void)[] {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'] as const;
  const before = signals.flatMap((name) => process.listeners(name));
  listen();
  const added: (() => void)[] = [];
  for (const name of signals) {
    for (const listener of process.listeners(name)) {
      if (before.includes(listener)) continue;
      process.off(name, listener);
      if (name === signal) added.push(listener as () => void);
    }
  }
  return added;
}

it('stops when its console window is closed on Windows', () => {
  const stop = vi.fn();
  const [onClosed] = listenersOf('SIGHUP', () => reloadSignal(stop, 'win32'));
  onClosed?.();
  expect(stop).toHaveBeenCalledOnce();
});

it('stops at Ctrl+Break as at Ctrl+C', () => {
  expect(listenersOf('SIGBREAK', stopSignal)).toHaveLength(1);
});
