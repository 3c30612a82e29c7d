// Turns routes into Express middleware, with the same authentication, body parsing, idempotency and envelope for all.
import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { z } from 'zod';
import { Accepted } from './accepted.ts';
import { type Actor, type Call, CLIENT_CLOSED_REQUEST } from './call.ts';
import { Document } from './document.ts';
import type { Endpoint, EndpointAuth } from '#server/wire/endpoint.ts';
import { ApiError, type ErrorCode, refusedField } from '#server/wire/errors.ts';
import { sendDocument, sendJson } from './http-reply.ts';
import { invokeRoute, parseRequest, type Route } from './route.ts';
import { receiveFile } from './upload.ts';

export interface IdempotentCall {
  key: string;
  /** The endpoint. One key may be used for different endpoints. */
  endpoint: string;
  caller: string;
  /** The parsed request. Its canonical form distinguishes different bodies. */
  request: object;
}

export interface Work {
  /** Runs before the transaction. */
  prepare(): Promise<void>;
  run(): Promise<object>;
}

/** Counts the call and sets the limit's reply headers. @throws ApiError `rate_limited` */
export type CountCall = (request: Request, response: Response) => void;

/** Limits failures, so that secrets cannot be guessed while any number of calls may succeed. */
export interface FailureLimit {
  /** @throws ApiError `rate_limited` after too many failures */
  check: CountCall;
  count: CountCall;
}

export interface MountOptions {
  /** Returns the caller, or throws `unauthorized` or `forbidden`. */
  authenticate(auth: EndpointAuth, request: Request): Actor | Promise<Actor>;
  /** Runs the work once per key, and returns the first reply afterwards. */
  runOnce?(call: IdempotentCall, work: Work): Promise<object>;
  /** The limit that calls to this endpoint count against. */
  limitFor?(row: Endpoint): CountCall | undefined;
  /** The limit that failed calls to this endpoint count against. */
  failureLimitFor?(row: Endpoint): FailureLimit | undefined;
  /** Runs a call, whose reads may come from a replica if the endpoint is one of the lists. */
  readLists?(endpoint: string, work: () => Promise<void>): Promise<void>;
  /** The caller's network address. */
  addressOf?(request: Request): string | undefined;
}

const BODY_LIMIT = 64 * 1024;
const parseBody = express.json({
  limit: BODY_LIMIT,
  // `"text"` is valid JSON, though never a valid request.
  strict: false,
  type: 'application/json',
  // Without this, the parser accepts UTF-16 and replaces invalid UTF-8 bytes.
  verify(_request, _response, bytes, charset) {
    if (charset !== 'utf-8')
      throw new ApiError('unsupported_media_type', 'the charset is not supported; use UTF-8');
    if (!isUtf8(bytes)) throw new ApiError('invalid_json', 'the body is not UTF-8');
  },
});

function bodyOf(request: Request): unknown {
  if (request.body !== undefined) return request.body;
  const length = request.headers['content-length'];
  const sent = request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
  if (sent) throw new ApiError('unsupported_media_type', 'the body must be application/json');
  return {};
}

function inputOf(request: Request, row: Endpoint): unknown {
  const { upload } = row;
  if (upload) return { ...request.query, file: receiveFile(request, upload) };
  if (request.method === 'GET' || request.method === 'HEAD') return request.query;
  const body = bodyOf(request);
  const isObject = body !== null && typeof body === 'object' && !Array.isArray(body);
  // For DELETE, the schema rejects bodies that are not objects.
  if (request.method !== 'DELETE' || !isObject) return body;
  checkSameValues(row, request.query, body as Record<string, unknown>);
  return { ...request.query, ...body };
}

/** A request that names one object in the query and another in the body deletes neither. */
function checkSameValues(row: Endpoint, query: Request['query'], body: Record<string, unknown>): void {
  for (const name of Object.keys((row.request as z.ZodObject).shape)) {
    const isTwice = Object.hasOwn(query, name) && Object.hasOwn(body, name);
    if (isTwice && String(query[name]) !== String(body[name]))
      throw refusedField(name, 'the query and the body have different values');
  }
}

function idempotencyKey(request: Request): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !/^[\u0021-\u007e]{1,255}$/u.test(key)) {
    throw new ApiError(
      'invalid_request',
      'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces',
    );
  }
  return key;
}

/**
 * Whose keys are apart from those of others. All administrators count as one, because a form is sent again after a new
 * sign-in, too.
 */
function callerOf({ kind, id }: Actor): string {
  return kind === 'api_token' && id !== undefined ? id : kind;
}

function checkRole(route: Route, actor: Actor): void {
  if (route.row.role === 'admin' && actor.role === 'integrator') {
    throw new ApiError('forbidden', 'this call requires an API token with the role admin');
  }
}

/** Runs a middleware outside of Express's chain. Resolves when it passes the request on, rejects with its error. */
function passed(middleware: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void middleware(request, response, (error?: unknown) =>
      error === undefined ? resolve() : reject(error as Error),
    );
  });
}

/**
 * Authenticates before reading the body, so that an unauthenticated caller learns nothing about the endpoint's fields.
 */
function answer(route: Route, options: MountOptions): RequestHandler {
  const { row, name } = route;
  return async (request: Request, response: Response) => {
    const authenticated = options.authenticate(row.auth, request);
    const actor = authenticated instanceof Promise ? await authenticated : authenticated;
    checkRole(route, actor);
    if (row.method !== 'GET' && !row.upload) await passed(parseBody, request, response);
    const headers: string[] = [];
    const call: Call = {
      actor,
      requestId: request.id,
      userAgent: request.headers['user-agent'],
      host: request.headers.host,
      isHead: request.method === 'HEAD',
      address: options.addressOf?.(request),
      isGone: () => response.destroyed,
      setReplyHeader: (header, value) => headers.push(header, value),
      prefers: (types) => request.accepts([...types]) || types[0],
    };
    const input = parseRequest(row, inputOf(request, row));
    const key = row.idempotent ? idempotencyKey(request) : undefined;
    const respond = async (): Promise<void> => {
      const reply =
        key !== undefined && options.runOnce
          ? await options.runOnce(
              { key, endpoint: name, caller: callerOf(actor), request: input },
              workOf(route, input, call),
            )
          : await invokeRoute(route, input, call);
      if (row.isFailure?.(reply)) options.failureLimitFor?.(row)?.count(request, response);
      // The parts of a document are read while it is sent.
      if (reply instanceof Document) await sendDocument(response, reply, request.id, isFresh(request, reply));
      else if (reply instanceof Accepted)
        sendJson(response, 202, { ok: true, ...reply.fields }, request.id, headers);
      else sendJson(response, 200, { ok: true, ...reply }, request.id, headers);
    };
    await (options.readLists ? options.readLists(name, respond) : respond());
  };
}

function workOf(route: Route, input: object, call: Call): Work {
  let prepared: unknown;
  return {
    async prepare() {
      prepared = await route.prepare?.(input, call);
    },
    run: async () => route.handle(input, call, prepared),
  };
}

/** Whether `If-None-Match` has the current version (RFC 9110, section 13.1.2). */
export function isFresh(request: Request, { etag }: Document): boolean {
  const given = request.headers['if-none-match'];
  if (etag === undefined || given === undefined) return false;
  return given === '*' || given.split(',').some((tag) => tag.trim().replace(/^W\//u, '') === etag);
}

/** Rejects a request with 405. @param allow the supported methods */
export function refuseMethod(allow: readonly string[]): RequestHandler {
  return (request) => {
    throw new ApiError(
      'method_not_allowed',
      `${request.method} is not allowed here; use ${allow.join(', ')}`,
      {
        headers: { Allow: allow.join(', ') },
      },
    );
  };
}

/** Counts a call before doing anything else. */
function limited(count: CountCall, handler: RequestHandler): RequestHandler {
  return (request, response, next) => {
    count(request, response);
    return handler(request, response, next);
  };
}

/** Errors that a caller who guesses keys or tokens gets. */
const GUESSES: ReadonlySet<ErrorCode> = new Set([
  'license_not_found',
  'token_invalid',
  'invalid_request',
  'lease_gone',
]);

export function isGuess(error: unknown): boolean {
  // A caller who is gone learns nothing.
  return error instanceof ApiError && GUESSES.has(error.code) && error.status !== CLIENT_CLOSED_REQUEST;
}

/** Refuses a caller with too many failures before doing anything else. */
function limitedFailures(limit: FailureLimit, handler: RequestHandler): RequestHandler {
  return async (request, response, next) => {
    limit.check(request, response);
    try {
      await handler(request, response, next);
    } catch (error) {
      if (isGuess(error)) limit.count(request, response);
      throw error;
    }
  };
}

/** The error with the status that the endpoint declares for its code. */
export function declaredFailure({ errorStatus }: Endpoint, error: unknown): unknown {
  if (!errorStatus || !(error instanceof ApiError)) return error;
  const status = errorStatus[error.code];
  return status === undefined ? error : error.withStatus(status);
}

function withDeclaredStatus(row: Endpoint, handler: RequestHandler): RequestHandler {
  if (!row.errorStatus) return handler;
  return async (request, response, next) => {
    try {
      await handler(request, response, next);
    } catch (error) {
      throw declaredFailure(row, error);
    }
  };
}

/** Handlers by method; other methods are rejected. */
interface Target {
  handlers: Map<string, RequestHandler>;
  refuse: RequestHandler;
}

function targetOf(group: readonly Route[], options: MountOptions): Target {
  const handlers = new Map<string, RequestHandler>();
  for (const route of group) {
    const answering = withDeclaredStatus(route.row, answer(route, options));
    const count = options.limitFor?.(route.row);
    const failures = options.failureLimitFor?.(route.row);
    const bounded = failures ? limitedFailures(failures, answering) : answering;
    const handler = count ? limited(count, bounded) : bounded;
    for (const method of methodsOf(route.row)) handlers.set(method, handler);
  }
  return { handlers, refuse: refuseMethod([...handlers.keys()]) };
}

/** Every GET endpoint also supports HEAD: Node omits the body. */
function methodsOf({ method, refusesHead }: Endpoint): string[] {
  return method === 'GET' && !refusesHead ? [method, 'HEAD'] : [method];
}

/** Normalizes a path. As in Express, case and a trailing slash are ignored. */
function canonical(path: string): string {
  return (path.endsWith('/') ? path.slice(0, -1) : path).toLowerCase();
}

/**
 * Serves each route below `root`, and rejects other methods on its path with 405. Paths have no parameters, so a map
 * finds the route. Express would match a pattern per route in turn, which is noticeably slower for frequent calls.
 */
export function mount(root: string, routes: readonly Route[], options: MountOptions): RequestHandler {
  const targets = new Map<string, Target>();
  for (const [path, group] of Map.groupBy(routes, ({ row }) => canonical(root + row.path)))
    targets.set(path, targetOf(group, options));
  return (request, response, next) => {
    const target = targets.get(canonical(request.path));
    if (!target) return next();
    return (target.handlers.get(request.method) ?? target.refuse)(request, response, next);
  };
}
