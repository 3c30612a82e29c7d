// One HTTP connection: its requests one after the other, what it is waited for, and its end.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '#server/wire/errors.ts';
import type { Logger } from './logger.ts';
import type { Peer, RequestScheduler, Task } from './request-scheduler.ts';
import { endWithFailure } from './socket-reply.ts';

/** How often `tick` is called. */
export const TICK_MS = 1000;
/** How long the client has to take the last reply and close. */
const LINGER_TICKS = 2;
/** How long the rest of a body may take whose request has been answered already. */
const UNREAD_BODY_TICKS = 3;
/** How long a body may pause. */
const BODY_IDLE_TICKS = 30;
/** How long a body may take, and how much longer for each of these many bytes received. */
const BODY_TICKS = 30;
const BODY_BYTES_PER_TICK = 4096;
/** How long a client may take no byte of a reply. */
const REPLY_STALL_MS = 30_000;
/** Node parses all requests that it is given at once: about this many bytes of them. */
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
  /** Refuses a request of an overloaded server. @returns false for one that is never refused */
  shed(request: IncomingMessage, response: ServerResponse): boolean;
  logger: Logger;
}

/**
 * Takes over the reading of a socket from Node's HTTP server. Left to itself, that server reads pipelined requests
 * without bound and starts all of them at once.
 */
export function createConnection({ socket, peer, scheduler, shed, logger }: Needs) {
  const waiting: Exchange[] = [];
  let current: Exchange | undefined;
  /** The newest request that was begun. */
  let last: IncomingMessage | undefined;
  /** What is read from now on is discarded. */
  let isOver = false;
  /** Sent after the replies that are due. */
  let farewell: ApiError | undefined;
  let isDraining = false;
  /** The client has closed its side: called after the last reply. */
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

  /** No further reply can be sent. */
  function isClosing(): boolean {
    return socket.destroyed || socket.writableEnded;
  }

  function isDiscarding(): boolean {
    return isOver || isClosing();
  }

  function readOn(): void {
    // Node reads on by itself once the socket has drained.
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
      // Nobody waits for a reply any more once the socket is gone.
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

  /** @param failure null: nothing is left to say */
  function end(failure: ApiError | null): void {
    lingered = 0;
    if (!socket.writable) socket.destroy();
    else if (failure) endWithFailure(socket, failure, logger);
    else socket.end();
    // A socket that is closed with unread bytes resets the connection, and the client may lose the reply.
    socket.resume();
  }

  /** Answers what cannot be read, or does not come, once the requests before it have been answered; then closes. */
  function fail(failure: ApiError): void {
    if (isOver) return;
    isOver = true;
    farewell = failure;
    if (last && !last.complete) {
      // It is the body that fails. The reply may have been sent before, or in part.
      if (!current) end(null);
      else if (current.response.headersSent) socket.destroy();
      else end(failure);
      return;
    }
    if (waiting.at(-1)?.request.complete === false) waiting.pop();
    if (!current) end(failure);
  }

  return {
    /** Takes a request that has been parsed. */
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
     * @param parse parses bytes; pauses the socket when no more of them are wanted
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

    /** Node ends its side at once, whatever is waiting. @param parse tells it that the client has ended its own */
    readEnd(parse: () => void): void {
      if (isOver) return;
      if (waiting.length > 0) parseEnd = parse;
      else parse();
    },

    fail,

    /** Ends with the reply under way, or now if there is none. */
    drain(): void {
      waiting.length = 0;
      isDraining = true;
      if (!current) socket.destroy();
      else if (!current.response.headersSent) current.response.shouldKeepAlive = false;
    },

    isBusy: () => current !== undefined,
    /** The reply under way is complete but for the client's taking it. */
    hasReplied: () => current?.response.writableEnded === true,
    hasSentRequest: () => last !== undefined,

    /** Closes what has taken too long. Time in which this process was blocked or suspended counts as one tick at most. */
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
      // Paused, the client waits for us.
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
