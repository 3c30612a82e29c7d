// Posts JSON over kept connections and times each reply; for load whose every body differs.
import { Agent, request } from 'node:http';

export interface Reply {
  status: number;
  body: string;
  /** `performance.now()` at sending and at the end of the reply. */
  sentAt: number;
  endedAt: number;
}

export interface Client {
  post(url: string, body: object): Promise<Reply>;
  close(): void;
}

export function createClient(connections: number, headers: Record<string, string> = {}): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    post: (url, body) =>
      new Promise((resolve, reject) => {
        const sentAt = performance.now();
        const call = request(
          url,
          { agent, method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
          (response) => {
            let text = '';
            response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
            response.on('error', reject).on('end', () => {
              resolve({ status: response.statusCode ?? 0, body: text, sentAt, endedAt: performance.now() });
            });
          },
        );
        call.on('error', reject).end(JSON.stringify(body));
      }),
    close: () => agent.destroy(),
  };
}

/** `connections` callers, each sending its next request when the last is answered, until `isOver`. */
export async function postAllAlong(
  connections: number,
  url: string,
  nextBody: () => object,
  isOver: () => boolean,
  headers: Record<string, string> = {},
): Promise<Reply[]> {
  const client = createClient(connections, headers);
  const replies: Reply[] = [];
  const caller = async () => {
    while (!isOver()) replies.push(await client.post(url, nextBody()));
  };
  try {
    await Promise.all(Array.from({ length: connections }, caller));
  } finally {
    client.close();
  }
  const refused = replies.find((reply) => reply.status !== 200);
  if (refused) throw new Error(`${url} answered ${refused.status}: ${refused.body}`);
  return replies;
}
