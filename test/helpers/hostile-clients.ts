// Clients that attack by how they use a connection: floods, slow bodies, idle swarms.
import { connect, type Socket } from 'node:net';

export interface RawConnection {
  write(bytes: string): void;
  /** Everything the server has sent. */
  received(): string;
  /** The number of replies that have begun. */
  replies(): number;
  /** @returns once what the server has sent passes the check. Rejects if the connection closes before. */
  until(check: (connection: RawConnection) => boolean): Promise<void>;
  /** The server has ended its side or reset the connection. */
  ended: Promise<void>;
  /** The server has closed both sides, although this client keeps its own open and writes to it. */
  gone(): Promise<void>;
  /** Closes this side only. */
  end(): void;
  destroy(): void;
  reset(): void;
  pause(): void;
  resume(): void;
}

const REPLY = 'HTTP/1.1 ';
const PROD_MS = 50;

/** @param from the local address to connect from, for clients at several addresses */
export async function openRaw(url: string, from?: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    allowHalfOpen: true,
    ...(from === undefined ? {} : { localAddress: from }),
  });
  return rawConnection(socket, 'connect');
}

/** @param socket a TCP or TLS client's that allows half-open connections @param ready the event that tells it is open */
export async function rawConnection(socket: Socket, ready: string): Promise<RawConnection> {
  const received: string[] = [];
  let overlap = '';
  let replies = 0;
  let isClosed = false;
  const checks = new Set<() => void>();
  const runChecks = () => {
    for (const check of checks) check();
  };
  socket.setEncoding('latin1').on('data', (text: string) => {
    // A reply's first word may be split between two chunks.
    replies += (overlap + text).split(REPLY).length - 1;
    overlap = (overlap + text).slice(1 - REPLY.length);
    received.push(text);
    runChecks();
  });
  const ended = new Promise<void>((resolve) => {
    socket.once('end', resolve);
    socket.once('close', () => {
      isClosed = true;
      resolve();
      runChecks();
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once(ready, () => resolve());
    socket.once('error', reject);
  });
  // Being reset is what the server is supposed to do to some of these clients.
  socket.on('error', () => {});
  const connection: RawConnection = {
    write: (bytes) => void socket.write(bytes),
    received: () => received.join(''),
    replies: () => replies,
    until: (check) =>
      new Promise((resolve, reject) => {
        const tryNow = () => {
          const isMet = check(connection);
          if (!isMet && !isClosed) return;
          checks.delete(tryNow);
          if (isMet) resolve();
          else
            reject(new Error(`the connection closed after ${JSON.stringify(received.join('').slice(-500))}`));
        };
        checks.add(tryNow);
        tryNow();
      }),
    ended,
    async gone() {
      await ended;
      if (socket.closed) return;
      const timer = setInterval(() => socket.write(' '), PROD_MS);
      await new Promise((resolve) => {
        socket.once('close', resolve);
      });
      clearInterval(timer);
    },
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    reset: () => void socket.resetAndDestroy(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
  };
  return connection;
}

/** A request without a body, as text. @param headers lines, each with its line end */
export function getRequest(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
}

/** Sends that many requests on one connection without waiting for a reply. The n-th carries `X-Request-Id: n`. */
export async function pipeline(url: string, path: string, count: number): Promise<RawConnection> {
  const connection = await openRaw(url);
  const numbers = Array.from({ length: count }, (_, number) => number);
  connection.write(numbers.map((number) => getRequest(path, `X-Request-Id: ${number}\r\n`)).join(''));
  return connection;
}

/** Sends the head of a JSON request and the first bytes of its body, and leaves the rest to the caller. */
export async function unfinishedBody(
  url: string,
  path: string,
  { length = 1000, headers = '' }: { length?: number; headers?: string } = {},
): Promise<RawConnection> {
  const connection = await openRaw(url);
  connection.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}` +
      `Content-Length: ${length}\r\n\r\n{`,
  );
  return connection;
}

/** Opens that many connections, a few hundred at a time, writes the same bytes to each and then leaves them alone. */
export async function idleSwarm(url: string, count: number, bytes = ''): Promise<RawConnection[]> {
  const BATCH = 250;
  const swarm: RawConnection[] = [];
  while (swarm.length < count) {
    const size = Math.min(BATCH, count - swarm.length);
    swarm.push(...(await Promise.all(Array.from({ length: size }, () => openRaw(url)))));
  }
  if (bytes !== '') for (const connection of swarm) connection.write(bytes);
  return swarm;
}
