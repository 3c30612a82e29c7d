// Turns routes into Express middleware: authentication, body, parsing, idempotency and the envelope, the same for each.
import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Actor, Call } from './call.ts';
import { Document } from './document.ts';
import type { Endpoint, EndpointAuth } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { sendDocument, sendJson } from './http-reply.ts';
import { invokeRoute, parseRequest, type Route } from './route.ts';
import { receiveFile } from './upload.ts';

export interface IdempotentCall {
  key: string;
  /** Which endpoint; one key may serve two of them. */
  endpoint: string;
  caller: string;
  /** The parsed request, whose bytes in canonical form tell one body from another. */
  request: object;
}

export interface Work {
  /** Ahead of any transaction. */
  prepare(): Promise<void>;
  run(): Promise<object>;
}

/** Counts the call and describes the limit in the reply's headers. @throws ApiError `rate_limited` */
export type CountCall = (request: Request, response: Response) => void;

export interface MountOptions {
  /** Says who calls, or throws `unauthorized` or `forbidden`. */
  authenticate(auth: EndpointAuth, request: Request): Actor | Promise<Actor>;
  /** Does the work once per key, and gives the first reply again after that. */
  runOnce?(call: IdempotentCall, work: Work): Promise<object>;
  /** The limit that calls of this endpoint count against. */
  limitFor?(row: Endpoint): CountCall | undefined;
}

const BODY_LIMIT = 64 * 1024;
const parseBody = express.json({
  limit: BODY_LIMIT,
  // `"text"` is JSON, though never a valid request.
  strict: false,
  type: 'application/json',
  // Left to itself the parser takes UTF-16, and turns bytes that are no UTF-8 into other characters.
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

function inputOf(request: Request, { upload }: Endpoint): unknown {
  if (upload) return { ...request.query, file: receiveFile(request, upload) };
  if (request.method === 'GET' || request.method === 'HEAD') return request.query;
  const body = bodyOf(request);
  const isObject = body !== null && typeof body === 'object' && !Array.isArray(body);
  // Whatever else the body of a DELETE may be is left to the schema to refuse.
  return request.method === 'DELETE' && isObject ? { ...request.query, ...body } : body;
}

function idempotencyKey(request: Request): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !/^[\u0021-\u007e]{1,255}$/u.test(key)) {
    throw new ApiError('invalid_request', 'Idempotency-Key must be 1 to 255 printable characters');
  }
  return key;
}

function checkRole(route: Route, actor: Actor): void {
  if (route.row.role === 'admin' && actor.role === 'integrator') {
    throw new ApiError('forbidden', 'this API token is not an administrator');
  }
}

/** What Express would do with a middleware: it lets the request pass, or says why not. */
function passed(middleware: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void middleware(request, response, (error?: unknown) =>
      error === undefined ? resolve() : reject(error as Error),
    );
  });
}

/** Authentication comes before the body is read: a stranger learns nothing of what the endpoint would want. */
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
      isGone: () => response.destroyed,
      setReplyHeader: (header, value) => headers.push(header, value),
      prefers: (types) => request.accepts([...types]) || types[0],
    };
    const input = parseRequest(row, inputOf(request, row));
    const key = row.idempotent ? idempotencyKey(request) : undefined;
    const reply =
      key !== undefined && options.runOnce
        ? await options.runOnce(
            { key, endpoint: name, caller: actor.id ?? actor.name, request: input },
            workOf(route, input, call),
          )
        : await invokeRoute(route, input, call);
    if (reply instanceof Document) await sendDocument(response, reply, request.id, isFresh(request, reply));
    else sendJson(response, 200, { ok: true, ...reply }, request.id, headers);
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

/** Whether the caller's `If-None-Match` names what it would get (RFC 9110, section 13.1.2). */
export function isFresh(request: Request, { etag }: Document): boolean {
  const given = request.headers['if-none-match'];
  if (etag === undefined || given === undefined) return false;
  return given === '*' || given.split(',').some((tag) => tag.trim().replace(/^W\//u, '') === etag);
}

/** Answers whatever method comes with 405. @param allow the methods that would do */
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

/** Counts a call before anything else is done for it. */
function limited(count: CountCall, handler: RequestHandler): RequestHandler {
  return (request, response, next) => {
    count(request, response);
    return handler(request, response, next);
  };
}

/** Gives failures the status that the endpoint declares for their code. */
function withDeclaredStatus({ errorStatus }: Endpoint, handler: RequestHandler): RequestHandler {
  if (!errorStatus) return handler;
  return async (request, response, next) => {
    try {
      await handler(request, response, next);
    } catch (error) {
      const status = error instanceof ApiError ? errorStatus[error.code] : undefined;
      throw status === undefined ? error : (error as ApiError).withStatus(status);
    }
  };
}

/** By method; whatever is not in it is refused. */
interface Target {
  handlers: Map<string, RequestHandler>;
  refuse: RequestHandler;
}

function targetOf(group: readonly Route[], options: MountOptions): Target {
  const handlers = new Map<string, RequestHandler>();
  for (const route of group) {
    const answering = withDeclaredStatus(route.row, answer(route, options));
    const count = options.limitFor?.(route.row);
    const handler = count ? limited(count, answering) : answering;
    for (const method of methodsOf(route.row)) handlers.set(method, handler);
  }
  return { handlers, refuse: refuseMethod([...handlers.keys()]) };
}

/** Whoever can answer GET can answer HEAD: Node leaves the body out. */
function methodsOf({ method, refusesHead }: Endpoint): string[] {
  return method === 'GET' && !refusesHead ? [method, 'HEAD'] : [method];
}

/** One spelling of a path: as Express does, neither case nor a slash at the end makes a difference. */
function canonical(path: string): string {
  return (path.endsWith('/') ? path.slice(0, -1) : path).toLowerCase();
}

/**
 * Answers each route below `root`, and every other method on its path with 405. No row's path has parameters, so one
 * look-up finds it; Express would try a pattern for each route in turn, which a list that is asked for often notices.
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
