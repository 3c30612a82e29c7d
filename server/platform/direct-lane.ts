// Answers public endpoints ahead of Express, which takes longer than most of them. A request with anything unusual
// (its path, method, media type, encoding) goes to Express, before any of its body is read.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { Accepted } from './accepted.ts';
import { callerGone, PUBLIC_ACTOR, type Call } from './call.ts';
import { Document } from './document.ts';
import { countHosts, sendFailure } from './error-handler.ts';
import { sendJson } from './http-reply.ts';
import type { Logger } from './logger.ts';
import { type CountCall, declaredFailure, type FailureLimit, isGuess } from './mount.ts';
import { chooseRequestId, logWhenClosed } from './request-id.ts';
import { invokeRoute, parseRequest, type Route } from './route.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';

/** @returns false if the request is left to Express, untouched */
export type DirectLane = (request: IncomingMessage, response: ServerResponse) => boolean;

interface Needs {
  root: string;
  routes: readonly Route[];
  limitFor(row: Endpoint): CountCall | undefined;
  failureLimitFor(row: Endpoint): FailureLimit | undefined;
  addressOf(request: IncomingMessage): string | undefined;
  logger: Logger;
}

interface Target {
  route: Route;
  count: CountCall | undefined;
  failures: FailureLimit | undefined;
}

/** The media types that clients send; any other spelling is left to Express. */
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/iu;
/** Larger bodies are left to Express. */
const MAX_BODY_BYTES = 16_384;

function isSuitable({ row }: Route): boolean {
  return row.auth === 'public' && !row.upload && !row.documents && !row.etag && !row.idempotent;
}

/** @returns the length of a body that can be read here, 0 for a GET; otherwise undefined */
function bodyLength({ method, headers }: IncomingMessage, row: Endpoint): number | undefined {
  if (headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined)
    return undefined;
  const length = headers['content-length'];
  if (row.method === 'GET') {
    const isAsked = method === 'GET' || (method === 'HEAD' && !row.refusesHead);
    return isAsked && (length === undefined || length === '0') ? 0 : undefined;
  }
  if (method !== row.method || row.method !== 'POST' || length === undefined) return undefined;
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) return undefined;
  const bytes = Number(length);
  return bytes > 0 && bytes <= MAX_BODY_BYTES ? bytes : undefined;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ApiError('invalid_json', 'the body is not UTF-8');
  const isMarked = bytes[0] === BYTE_ORDER_MARK[0] && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
  // As Express's parser does: a mark alone is an empty body, which counts as an object without fields.
  if (isMarked && bytes.length === BYTE_ORDER_MARK.length) return {};
  try {
    return JSON.parse(
      isMarked ? bytes.toString('utf8', BYTE_ORDER_MARK.length) : bytes.toString(),
    ) as unknown;
  } catch {
    throw new ApiError('invalid_json', 'the body is not valid JSON');
  }
}

/** Calls `done` once, with the whole body or the reason why there is none. */
function receive(request: IncomingMessage, done: (error: ApiError | null, bytes: Buffer) => void): void {
  let bytes: Buffer | undefined;
  let isDone = false;
  const end = (error: ApiError | null) => {
    if (isDone) return;
    isDone = true;
    done(error, bytes ?? Buffer.alloc(0));
  };
  request.on('data', (chunk: Buffer) => {
    bytes = bytes === undefined ? chunk : Buffer.concat([bytes, chunk]);
  });
  request.on('end', () => end(null));
  request.on('error', () => end(callerGone()));
}

type Lane = Pick<Needs, 'addressOf' | 'logger'>;

/** One request that is answered here. */
class DirectCall implements Call {
  readonly actor = PUBLIC_ACTOR;
  readonly requestId: string;
  readonly #response: ServerResponse;
  readonly #headers: string[] = [];
  readonly #target: Target;
  readonly #lane: Lane;

  constructor(target: Target, response: ServerResponse, requestId: string, lane: Lane) {
    this.#target = target;
    this.#response = response;
    this.requestId = requestId;
    this.#lane = lane;
  }

  get address(): string | undefined {
    return this.#lane.addressOf(this.#response.req);
  }

  get userAgent(): string | undefined {
    return this.#response.req.headers['user-agent'];
  }

  isGone(): boolean {
    return this.#response.destroyed;
  }

  setReplyHeader(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  /** Routes that offer a choice are left to Express. */
  prefers([first]: readonly [string, ...string[]]): string {
    return first;
  }

  count(): void {
    const { count, failures } = this.#target;
    if (count) this.#countBy(count);
    if (failures) this.#countBy(failures.check);
  }

  /** A limit reads the caller's address and sets headers, which Express's objects inherit from Node's. */
  #countBy(count: CountCall): void {
    count(this.#response.req as Request, this.#response as Response);
  }

  run(input: unknown): void {
    const { route } = this.#target;
    const parsed = route.parse?.(input) ?? parseRequest(route.row, input);
    const reply = invokeRoute(route, parsed, this);
    if (reply instanceof Promise) reply.then(this.#send, this.fail);
    else this.#send(reply);
  }

  readonly #send = (reply: object): void => {
    const { failures, route } = this.#target;
    try {
      if (failures && route.row.isFailure?.(reply)) this.#countBy(failures.count);
      if (reply instanceof Document) throw new Error(`${route.name} returned an undeclared file`);
      const [status, fields] = reply instanceof Accepted ? [202, reply.fields] : [200, reply];
      sendJson(this.#response, status, { ok: true, ...fields }, this.requestId, this.#headers);
    } catch (error) {
      this.fail(error);
    }
  };

  readonly fail = (error: unknown): void => {
    const { failures, route } = this.#target;
    if (failures && isGuess(error)) this.#countBy(failures.count);
    const failure = declaredFailure(route.row, error);
    sendFailure(this.#lane.logger, failure, this.#response, this.requestId);
  };
}

export function createDirectLane(needs: Needs): DirectLane {
  const { root, routes, addressOf, logger } = needs;
  const targets = new Map<string, Target>();
  const paths = Map.groupBy(routes, ({ row }) => row.path);
  for (const [path, group] of paths) {
    const [route, ...others] = group;
    if (!route || others.length > 0 || !isSuitable(route)) continue;
    const { row } = route;
    const target: Target = { route, count: needs.limitFor(row), failures: needs.failureLimitFor(row) };
    for (const form of [path, path.replace(/\/$/u, '')]) targets.set(root + form, target);
  }
  return (request, response) => {
    const target = targets.get(request.url ?? '');
    if (!target || countHosts(request.rawHeaders) !== 1) return false;
    const length = bodyLength(request, target.route.row);
    if (length === undefined) return false;
    const id = chooseRequestId(request.headers['x-request-id']);
    logWhenClosed(logger, request, response, id, addressOf);
    const call = new DirectCall(target, response, id, needs);
    try {
      call.count();
      if (length === 0) {
        call.run({});
        return true;
      }
    } catch (error) {
      call.fail(error);
      return true;
    }
    receive(request, (error, bytes) => {
      try {
        if (error) throw error;
        call.run(parseJson(bytes));
      } catch (failure) {
        call.fail(failure);
      }
    });
    return true;
  };
}
