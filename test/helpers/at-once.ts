import { expectFailure } from './strict-reply.ts';
import type { Reply } from './test-server.ts';

/** Makes that many calls at the same time, each with its number, and waits for all of their replies. */
export function atOnce<Result>(count: number, call: (number: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => call(number)));
}

/** Repeats a call until it is decided, as clients do: a busy database refuses with 503 what has waited for too long. */
export async function decided(call: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await call();
    if (reply.status !== 503) return reply;
    expectFailure(reply, 'unavailable');
  }
}
