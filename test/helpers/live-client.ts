// Listens to the stream of changes, as an open page does.
import { type Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import type { TestServer } from './test-server.ts';

export interface LiveMessage {
  event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into messages freely
  data: any;
  /** Of `performance.now()`. */
  at: number;
}

export interface LiveClient {
  status: number;
  headers: IncomingMessage['headers'];
  /** The next message, when it is there; null if the stream is over instead. */
  next(): Promise<LiveMessage | null>;
  /** Reads until a change names all of these topics. @returns all that were named till then */
  changed(...topics: LiveTopic[]): Promise<Set<LiveTopic>>;
  /** Everything until the end of the stream. */
  rest(): Promise<LiveMessage[]>;
  /** Vanishes, as a browser that is killed does. */
  vanish(): Promise<void>;
}

function parse(block: string): LiveMessage | null {
  const fields = new Map(
    block.split('\n').map((line) => line.split(/: ?(.*)/su).slice(0, 2) as [string, string]),
  );
  const [event, data] = [fields.get('event'), fields.get('data')];
  if (event === undefined || data === undefined) return null;
  return { event, data: JSON.parse(data) as unknown, at: performance.now() };
}

function read(call: ClientRequest, response: IncomingMessage): LiveClient {
  const messages: LiveMessage[] = [];
  let isOver = false;
  let text = '';
  let notice = () => {};
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    messages.push(...blocks.map((block) => parse(block)).filter((message) => message !== null));
    notice();
  });
  response.on('error', () => {});
  response.once('close', () => {
    isOver = true;
    notice();
  });

  async function next(): Promise<LiveMessage | null> {
    const [message] = messages.splice(0, 1);
    if (message || isOver) return message ?? null;
    await new Promise<void>((resolve) => {
      notice = resolve;
    });
    return next();
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next,
    async changed(...topics) {
      const named = new Set<LiveTopic>();
      while (!topics.every((topic) => named.has(topic))) {
        const message = await next();
        if (!message) throw new Error(`the stream ended after ${[...named].join(', ')}`);
        for (const topic of (message.data.topics ?? []) as LiveTopic[]) named.add(topic);
      }
      return named;
    },
    async rest() {
      const all: LiveMessage[] = [];
      for (let message = await next(); message; message = await next()) all.push(message);
      return all;
    },
    async vanish() {
      if (isOver) return;
      const gone = new Promise((resolve) => {
        call.once('close', resolve);
      });
      call.destroy();
      await gone;
    },
  };
}

/** @param headers the CLI's credential unless given @param agent for HTTPS */
export function listen(
  server: Pick<TestServer, 'adminOrigin' | 'runtimeSecret'>,
  headers: Record<string, string> = { authorization: `Bearer ${server.runtimeSecret}` },
  agent: Agent | false = false,
): Promise<LiveClient> {
  return new Promise((resolve, reject) => {
    const call = request(`${server.adminOrigin}/admin/api/live/`, { headers, agent }, (response) =>
      resolve(read(call, response)),
    );
    call.on('error', reject);
    call.end();
  });
}

/** The same once it is greeted, so that every change from now on is told. */
export async function listening(...passed: Parameters<typeof listen>): Promise<LiveClient> {
  const client = await listen(...passed);
  const hello = await client.next();
  if (hello?.event !== 'hello') throw new Error(`not let in: ${client.status}`);
  return client;
}
