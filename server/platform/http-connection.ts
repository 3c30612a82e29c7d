// One HTTP connection: handles its requests one after the other, and enforces its deadlines.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '#server/wire/errors.ts';
import type { Logger } from './logger.ts';
import type { Peer, RequestScheduler, Task } from './request-scheduler.ts';
import { endWithFailure } from './socket-reply.ts';

/** How often `tick` is called. */
export const TICK_MS = 1000;
/** Time for the client to read the last reply and close. */
const LINGER_TICKS = 2;
/** Time for the rest of a request body after the reply was sent. */
const UNREAD_BODY_TICKS = 3;
/** Maximum pause within a body. */
const BODY_IDLE_TICKS = 30;
/** Time limit for a body, extended for each of these many bytes received. */
const BODY_TICKS = 30;
const BODY_BYTES_PER_TICK = 4096;
/** Time limit for a client that stops reading a reply. */
const REPLY_STALL_MS = 30_000;
/** Node parses all requests in a chunk at once, so it gets about this many bytes at a time. */
const SLICE_BYTES = 1024;

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  answer: Answer;
}

interface Needs {
  socket: Socket;
  peer: Peer;
  scheduler: RequestScheduler;
  /** Rejects a request during an overload. @returns false for a request that is never rejected */
  shed(request: IncomingMessage, response: ServerResponse): boolean;
  logger: Logger;
}

/**
 * Takes over reading from Node's HTTP server, which would read pipelined requests without limit and start all of them
 * at once.
 */
export function createConnection({ socket, peer, scheduler, shed, logger }: Needs) {
  const waiting: Exchange[] = [];
  let current: Exchange | undefined;
  /** The newest started request. */
  let last: IncomingMessage | undefined;
  /** Everything read from now on is discarded. */
  let isOver = false;
  /** Sent after all pending replies. */
  let farewell: ApiError | undefined;
  let isDraining = false;
  /** Set once the client has closed its side; called after the last reply. */
  let parseEnd: (() => void) | undefined;
  let lingered = -1;
  let unreadTicks = 0;
  let bodyTicks = 0;
  let idleTicks = 0;
  let bodyBegan = 0;
  let bytesSeen = 0;
  let watchesReply = false;

  function isPaused(): boolean {
    return waiting.length > 0 || socket.isPaused();
  }

  /** Whether no further reply can be sent. */
  function isClosing(): boolean {
    return socket.destroyed || socket.writableEnded;
  }

  function isDiscarding(): boolean {
    return isOver || isClosing();
  }

  function readOn(): void {
    // Node resumes reading by itself once the socket has drained.
    if (socket.writableNeedDrain) socket.once('drain', readOn);
    else socket.resume();
  }

  function begin(exchange: Exchange, isFirst: boolean): void {
    current = exchange;
    const { request, response, answer } = exchange;
    last = request;
    bodyTicks = 0;
    idleTicks = 0;
    bodyBegan = socket.bytesRead;
    response.once('close', finish);
    const task: Task = {
      peer,
      // After the socket is closed, no client waits for the reply.
      run: () => void (isClosing() || answer(request, response)),
      shed: () => shed(request, response),
    };
    if (isFirst) scheduler.start(task);
    else scheduler.startLater(task);
  }

  function finish(): void {
    current = undefined;
    unreadTicks = 0;
    if (isDraining) socket.destroySoon();
    if (isClosing()) {
      waiting.length = 0;
      return;
    }
    const next = waiting.shift();
    if (next) begin(next, false);
    if (waiting.length > 0) return;
    if (!next && farewell) end(farewell);
    else if (!next && parseEnd) parseEnd();
    else if (socket.isPaused()) readOn();
  }

  /** @param failure null to close without a message */
  function end(failure: ApiError | null): void {
    lingered = 0;
    if (!socket.writable) socket.destroy();
    else if (failure) endWithFailure(socket, failure, logger);
    else socket.end();
    // Closing a socket with unread bytes resets the connection, and the client may lose the reply.
    socket.resume();
  }

  /** Replies to an unreadable or incomplete request after all earlier ones, then closes. */
  function fail(failure: ApiError): void {
    if (isOver) return;
    isOver = true;
    farewell = failure;
    if (last && !last.complete) {
      // The failure is in the body, and the reply may already be sent in part or whole.
      if (!current) end(null);
      else if (current.response.headersSent) socket.destroy();
      else end(failure);
      return;
    }
    if (waiting.at(-1)?.request.complete === false) waiting.pop();
    if (!current) end(failure);
  }

  return {
    /** Accepts a parsed request. */
    accept(exchange: Exchange): void {
      if (isDraining) return;
      if (!current) {
        begin(exchange, true);
        return;
      }
      waiting.push(exchange);
      socket.pause();
    },

    /**
     * Reads what the client has sent.
     * @param parse parses bytes; pauses the socket when it needs no more
     */
    read(bytes: Buffer, parse: (bytes: Buffer) => void): void {
      let rest = bytes;
      while (rest.length > 0 && !isDiscarding()) {
        if (isPaused()) {
          socket.pause();
          socket.unshift(rest);
          return;
        }
        const slice = rest.length > SLICE_BYTES ? rest.subarray(0, SLICE_BYTES) : rest;
        rest = rest.subarray(slice.length);
        parse(slice);
      }
    },

    /**
     * Node would close its side immediately, even with pending replies. @param parse tells Node's parser that the
     * client has closed its side
     */
    readEnd(parse: () => void): void {
      if (isOver) return;
      if (waiting.length > 0) parseEnd = parse;
      else parse();
    },

    fail,

    /** Closes after the reply in progress, or immediately if there is none. */
    drain(): void {
      waiting.length = 0;
      isDraining = true;
      if (!current) socket.destroy();
      else if (!current.response.headersSent) current.response.shouldKeepAlive = false;
    },

    isBusy: () => current !== undefined,
    /** The current reply has been written but not yet read completely by the client. */
    hasReplied: () => current?.response.writableEnded === true,
    hasSentRequest: () => last !== undefined,
    unreadBytes: () => socket.readableLength,

    /**
     * Closes what has exceeded its time limit. Time in which this process was blocked or suspended counts as at most
     * one tick.
     */
    tick(): void {
      if (lingered >= 0) {
        lingered += 1;
        if (lingered > LINGER_TICKS) socket.destroy();
        return;
      }
      if (socket.writableLength === 0) watchesReply = false;
      else if (!watchesReply) {
        watchesReply = true;
        socket.setTimeout(REPLY_STALL_MS);
      }
      if (!last || last.complete) return;
      if (!current) {
        unreadTicks += 1;
        if (unreadTicks > UNREAD_BODY_TICKS) socket.destroy();
        return;
      }
      // While the socket is paused, the client waits for us.
      if (socket.isPaused()) return;
      idleTicks = socket.bytesRead === bytesSeen ? idleTicks + 1 : 0;
      bytesSeen = socket.bytesRead;
      bodyTicks += 1;
      const allowed = BODY_TICKS + (bytesSeen - bodyBegan) / BODY_BYTES_PER_TICK;
      if (idleTicks > BODY_IDLE_TICKS || bodyTicks > allowed)
        fail(new ApiError('invalid_request', 'the request body took too long', { status: 408 }));
    },
  };
}

export type Connection = ReturnType<typeof createConnection>;
