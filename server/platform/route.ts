// A route: an endpoint's row with its handler.
import { Accepted } from './accepted.ts';
import type { Call } from './call.ts';
import { Document, type DocumentParts, isWhole } from './document.ts';
import type { Contract, Endpoint, ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError, type ErrorDetail } from '#server/wire/errors.ts';
import { readableText } from '#server/wire/readable-text.ts';
import { brokenRule, requestMessage } from '#server/wire/request-messages.ts';

type Answer<Reply> = Reply | Document | Accepted | Promise<Reply | Document | Accepted>;

/** A handler in two steps; the first one is slow and changes nothing. */
interface PreparedHandler<Request, Reply> {
  /** Runs before the transaction; throws to refuse. */
  prepare(request: Request, call: Call): Promise<unknown>;
  handle(request: Request, call: Call, prepared: unknown): Answer<Reply>;
}

export type Handler<Row extends Endpoint> =
  | ((request: RequestOf<Row>, call: Call) => Answer<ReplyOf<Row>>)
  | PreparedHandler<RequestOf<Row>, ReplyOf<Row>>;

export type Handlers<Rows extends Contract> = { [Name in keyof Rows]: Handler<Rows[Name]> };

/** Each returns what the schema would, or undefined. */
export type FastParsers<Rows extends Contract> = {
  [Name in keyof Rows]?: (input: unknown) => RequestOf<Rows[Name]> | undefined;
};

export interface Route {
  name: string;
  row: Endpoint;
  /** A fast check of a usual request; undefined leaves the request to the schema, which reports all problems. */
  parse?(input: unknown): object | undefined;
  prepare?(request: object, call: Call): Promise<unknown>;
  /** @param prepared the result of `prepare`, if there is one */
  handle(request: object, call: Call, prepared: unknown): object | Promise<object>;
}

/** @param handle receives the result of `prepare` */
export function prepared<Request, Reply, Prepared>(
  prepare: (request: Request, call: Call) => Promise<Prepared>,
  handle: (request: Request, call: Call, prepared: Prepared) => Answer<Reply>,
): PreparedHandler<Request, Reply> {
  return { prepare, handle: handle as PreparedHandler<Request, Reply>['handle'] };
}

/** Joins each handler with its row. The compiler checks that no row of the contract is missing. */
export function implement<Rows extends Contract>(
  rows: Rows,
  handlers: Handlers<Rows>,
  parsers: FastParsers<Rows> = {},
): Route[] {
  return Object.entries(handlers).map(([name, handler]) => ({
    name,
    row: rows[name] as Endpoint,
    ...(parsers[name] ? { parse: parsers[name] } : {}),
    ...((typeof handler === 'function' ? { handle: handler } : handler) as Pick<Route, 'prepare' | 'handle'>),
  }));
}

const MAX_SHOWN_PART = 60;

/** Part of the path to a field. A caller can choose the names of custom fields. */
function shownPart(part: PropertyKey): string {
  const text = String(part);
  const shown = readableText(text.slice(0, MAX_SHOWN_PART));
  return text.length > MAX_SHOWN_PART ? `${shown}…` : shown;
}

/** The schema library checks a whole number against its own limits and against those of the field. */
function withoutRepeats(details: readonly ErrorDetail[]): ErrorDetail[] {
  const byText = new Map(details.map((detail) => [JSON.stringify(detail), detail]));
  return [...byText.values()];
}

/**
 * Parses and validates a request.
 * @throws ApiError `invalid_request` that lists all problems
 */
export function parseRequest(row: Endpoint, input: unknown): object {
  const parsed = row.request.safeParse(input, { error: requestMessage, reportInput: true });
  if (parsed.success) return parsed.data;
  const details = withoutRepeats(
    parsed.error.issues.map((issue) => ({
      path: issue.path.map((part) => shownPart(part)).join('.'),
      ...brokenRule(issue),
    })),
  );
  const first = details[0];
  const message = `${first?.path ? `${first.path}: ` : 'the request '}${first?.message ?? 'is invalid'}`;
  throw new ApiError('invalid_request', message, { details });
}

/** @param request already parsed. A synchronous handler's reply is returned synchronously. */
export function invokeRoute(route: Route, request: object, call: Call): object | Promise<object> {
  if (!route.prepare) return route.handle(request, call, undefined);
  return route.prepare(request, call).then((ready) => route.handle(request, call, ready));
}

/** Calls a route directly, for CLI commands on a data directory without a running server. */
export async function invoke(route: Route, input: unknown, call: Call): Promise<object> {
  const answer = await invokeRoute(route, parseRequest(route.row, input), call);
  if (answer instanceof Accepted) return answer.fields;
  if (!(answer instanceof Document)) return answer;
  if (!isWhole(answer.body)) throw new Error(`${route.name} returns a file and needs a running server`);
  // A JSON document is a reply that has already been serialized.
  return JSON.parse(answer.body.toString()) as object;
}

/** The same for a route that returns a file. */
export async function invokeForFile(route: Route, input: unknown, call: Call): Promise<DocumentParts> {
  const answer = await invokeRoute(route, parseRequest(route.row, input), call);
  if (answer instanceof Document && !isWhole(answer.body)) return answer.body;
  throw new Error(`${route.name} does not return a file`);
}
