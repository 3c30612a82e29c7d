// A relay between a server and its database that can stop passing bytes while connections stay open, as a broken network does.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface TcpRelay {
  port: number;
  /** Its ports toward the target, by which PostgreSQL knows the connections. */
  targetPorts(): number[];
  /** Passes nothing more in either direction, neither bytes nor the end of a connection. */
  pause(): void;
  /** Passes on what has been held back. */
  resume(): void;
  /** Passes on the next bytes to the target that match, and ends the connection to the client when it answers them. */
  loseAnswerTo(matches: (sent: Buffer) => boolean): void;
  /**
   * Cuts off the client of the next bytes to the target that match.
   * @returns once they have come; passes them on, and resolves when the target answers
   */
  holdBack(matches: (sent: Buffer, connection: Socket) => boolean): Promise<() => Promise<void>>;
  /**
   * Keeps the next bytes to the target that match, and all after them on their connection, which stays open.
   * @returns once they have come
   */
  silence(matches: (sent: Buffer) => boolean): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpRelay(targetPort: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  const toTarget = new Set<Socket>();
  /** Null while bytes pass. */
  let held: (() => void)[] | null = null;
  const whenOpen = (pass: () => void) => (held ? held.push(pass) : pass());
  let isLost: ((sent: Buffer) => boolean) | null = null;
  let keeps: ((sent: Buffer, client: Socket, target: Socket) => boolean) | null = null;
  let silences: ((sent: Buffer, client: Socket) => boolean) | null = null;
  /** Sockets whose bytes are kept. */
  const silent = new Set<Socket>();
  /** Sockets whose next bytes are not passed on. */
  const unheard = new Set<Socket>();

  function passOn(from: Socket, to: Socket): void {
    const pass = (chunk: Buffer, done: (error: null, chunk?: Buffer) => void) => {
      if (unheard.delete(from)) {
        to.destroy();
        return done(null);
      }
      if (silent.has(from) || (toTarget.has(to) && silences?.(chunk, from))) return done(null);
      if (toTarget.has(to) && keeps?.(chunk, from, to)) return done(null);
      if (toTarget.has(to) && isLost?.(chunk)) {
        isLost = null;
        unheard.add(to);
      }
      return done(null, chunk);
    };
    const gate = new Transform({
      transform: (chunk: Buffer, _encoding, done) => void whenOpen(() => pass(chunk, done)),
      flush: (done) => void whenOpen(() => done()),
    });
    from.pipe(gate).pipe(to);
    sockets.add(from);
    // Followed by `close`.
    from.on('error', () => {});
    from.once('close', (hadError) => {
      sockets.delete(from);
      if (hadError) whenOpen(() => to.destroy());
    });
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    toTarget.add(target);
    target.once('close', () => toTarget.delete(target));
    passOn(client, target);
    passOn(target, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  function resume(): void {
    const passes = held ?? [];
    held = null;
    for (const pass of passes) pass();
  }

  return {
    port,
    targetPorts: () => [...toTarget].flatMap(({ localPort }) => localPort ?? []),
    pause() {
      held ??= [];
    },
    resume,
    loseAnswerTo(matches) {
      isLost = matches;
    },
    holdBack: (matches) =>
      new Promise((resolve) => {
        keeps = (sent, client, target) => {
          if (!matches(sent, client)) return false;
          keeps = null;
          client.destroy();
          resolve(async () => {
            const answer = once(target, 'data');
            target.write(sent);
            await answer;
          });
          return true;
        };
      }),
    silence: (matches) =>
      new Promise((resolve) => {
        silences = (sent, client) => {
          if (!matches(sent)) return false;
          silences = null;
          silent.add(client);
          resolve();
          return true;
        };
      }),
    async close() {
      resume();
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
