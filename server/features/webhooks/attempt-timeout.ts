// Time limits for an attempt: for each step of connecting, and for the whole.
import type { Socket } from 'node:net';

type Step = 'lookup' | 'connect' | 'handshake' | 'reply';

export class AttemptTimeoutError extends Error {
  override readonly name = 'AttemptTimeoutError';
  readonly step: Step;
  readonly ms: number;

  constructor(step: Step, ms: number) {
    super(`no ${step} within ${ms} ms`);
    this.step = step;
    this.ms = ms;
  }
}

/**
 * Calls `expire` after `ms`, unless something that has arrived by then cancels it: after a pause of the whole process, a
 * reply that came in time still counts.
 * @returns cancels it
 */
export function startTimeout(ms: number, expire: () => void): () => void {
  let isCancelled = false;
  const handleArrivals = () => setImmediate(() => isCancelled || expire());
  const timer = setTimeout(handleArrivals, ms);
  return () => {
    isCancelled = true;
    clearTimeout(timer);
  };
}

/** Destroys a connecting socket if a step takes longer. @param hasName whether its host has to be looked up */
export function limitConnecting(socket: Socket, ms: number, hasName: boolean): void {
  let cancel = () => {};
  const begin = (step: Step) => {
    cancel();
    cancel = startTimeout(ms, () => socket.destroy(new AttemptTimeoutError(step, ms)));
  };
  begin(hasName ? 'lookup' : 'connect');
  socket.once('lookup', () => begin('connect'));
  socket.once('connect', () => begin('handshake'));
  socket.once('secureConnect', () => cancel());
  socket.once('close', () => cancel());
}
