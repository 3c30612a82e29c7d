// A client connection that sends what it is given, and matches the replies to it.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Wire } from './hostile-requests.ts';

export interface WireReply {
  status: number;
  head: string;
  /** Byte by byte, as Latin-1. */
  body: string;
}

export interface WireConnection {
  send(requests: readonly Wire[]): void;
  /** Sends bytes that are no request, or only a part of one. */
  sendBytes(bytes: string): void;
  /** Requests whose replies have not arrived. */
  outstanding(): number;
  /** @returns once no more replies than this are missing, or the connection is closed */
  until(outstanding: number): Promise<void>;
  /** Whether the server said that it closes the connection. */
  isClosing(): boolean;
  isClosed(): boolean;
  /** @returns once the connection is closed; false if it is still open after that long */
  closed(withinMs: number): Promise<boolean>;
  pause(): void;
  end(): void;
  /** Closes the connection, or resets it. */
  leave(isReset: boolean): void;
}

const HEAD_END = '\r\n\r\n';

/** @returns the body and where it ends, or undefined if it has not arrived completely */
function readBody(text: string, start: number, head: string): { body: string; end: number } | undefined {
  const length = /\r\ncontent-length: *(\d+)/iu.exec(head)?.[1];
  if (length !== undefined) {
    const end = start + Number(length);
    return text.length < end ? undefined : { body: text.slice(start, end), end };
  }
  if (!/\r\ntransfer-encoding: *chunked/iu.test(head)) return { body: '', end: start };
  let body = '';
  for (let at = start; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (text.length < end) return undefined;
    if (size === 0) return { body, end };
    body += text.slice(lineEnd + 2, end - 2);
    at = end;
  }
}

/** @param from local address @param onReply called for each reply; the request is undefined if none is missing one */
export async function openWire(
  url: string,
  from: string,
  onReply: (reply: WireReply, request: Wire | undefined) => void,
): Promise<WireConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from, allowHalfOpen: true });
  const missing: Wire[] = [];
  let text = '';
  let isClosing = false;
  let isClosed = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };

  function readReplies(): void {
    let at = 0;
    for (;;) {
      const headEnd = text.indexOf(HEAD_END, at);
      if (headEnd === -1) break;
      const head = text.slice(at, headEnd);
      const status = Number(head.slice(9, 12));
      const start = headEnd + HEAD_END.length;
      const isInterim = status < 200;
      const hasNoBody = isInterim || status === 204 || status === 304 || missing[0]?.isHead === true;
      const content = hasNoBody ? { body: '', end: start } : readBody(text, start, head);
      if (!content) break;
      at = content.end;
      if (isInterim) continue;
      isClosing ||= /\r\nconnection: *close/iu.test(head);
      onReply({ status, head, body: content.body }, missing.shift());
    }
    text = text.slice(at);
  }

  socket.setNoDelay(true);
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    readReplies();
    wake();
  });
  // Being reset is what some of these clients ask for.
  socket.on('error', () => {});
  socket.once('end', () => socket.end());
  socket.once('close', () => {
    isClosed = true;
    wake();
  });
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {});
  const until = (isDone: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isDone() && !isClosed) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    send(requests) {
      missing.push(...requests);
      socket.write(requests.map(({ bytes }) => bytes).join(''));
    },
    sendBytes: (bytes) => void socket.write(bytes, 'latin1'),
    outstanding: () => missing.length,
    until: (outstanding) => until(() => missing.length <= outstanding),
    isClosing: () => isClosing,
    isClosed: () => isClosed,
    async closed(withinMs) {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      await Promise.race([until(() => false), timeout]);
      clearTimeout(timer);
      return isClosed;
    },
    pause: () => void socket.pause(),
    end: () => void socket.end(),
    leave: (isReset) => void (isReset ? socket.resetAndDestroy() : socket.destroy()),
  };
}
