// Once a revocation, release or replacement is confirmed, no server may authorize any more, from the next call on.
import type { Site } from './site.ts';
import { sendOnce } from './calls.ts';

export interface Denials {
  /** Asks the same before the change, so that a server that remembers answers has one to remember. */
  prepare(path: string, body: object): void;
  /** Asks every server and nginx. Each has to deny, or fail. */
  expect(what: string, path: string, body: object): void;
  /** Resolves when all questions are answered. */
  settled(): Promise<{ denied: number; failed: number }>;
}

/** Whether the reply allows the use. */
function isPositive(body: { valid?: boolean; authorized?: boolean; lease?: object }): boolean {
  return body.valid === true || body.authorized === true || body.lease !== undefined;
}

export function createDenials(site: Site): Denials {
  const open = new Set<Promise<void>>();
  const counts = { denied: 0, failed: 0 };

  async function ask(what: string, root: string, path: string, body: object): Promise<void> {
    // A server that is down does not answer, and so does not authorize.
    const reply = await sendOnce(root + path, body).catch(() => null);
    if (reply === null || reply.status >= 500) counts.failed += 1;
    else counts.denied += 1;
    if (reply?.status === 200 && isPositive(reply.body as object)) {
      site.failures.push(
        `stale: ${what} was confirmed, and ${root} then answered ${JSON.stringify(reply.body)}`,
      );
    }
  }

  function keep(asked: Promise<void>): void {
    const asking = asked.finally(() => open.delete(asking));
    open.add(asking);
  }

  return {
    prepare(path, body) {
      for (const { api } of site.cluster.servers)
        keep(
          sendOnce(api + path, body).then(
            () => {},
            () => {},
          ),
        );
    },
    expect(what, path, body) {
      for (const { api } of [...site.cluster.servers, site.cluster]) keep(ask(what, api, path, body));
    },
    async settled() {
      while (open.size > 0) await Promise.all(open);
      return counts;
    },
  };
}
