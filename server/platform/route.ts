// A route is an endpoint's row with the handler that answers it.
import type { Call } from './call.ts';
import type { Contract, Endpoint, ReplyOf, RequestOf } from './endpoint.ts';
import { ApiError } from './errors.ts';

export type Handler<Row extends Endpoint> = (
  request: RequestOf<Row>,
  call: Call,
) => ReplyOf<Row> | Promise<ReplyOf<Row>>;

export type Handlers<Rows extends Contract> = { [Name in keyof Rows]: Handler<Rows[Name]> };

/** For some rows: what is done ahead of the handler, outside of any transaction. */
export type Preparations<Rows extends Contract> = {
  [Name in keyof Rows]?: (request: RequestOf<Rows[Name]>) => Promise<void>;
};

export interface Route {
  name: string;
  row: Endpoint;
  handler: (request: object, call: Call) => object | Promise<object>;
  /** What takes long and changes nothing, ahead of any transaction; throws to refuse. */
  prepare?: (request: object) => Promise<void>;
}

/** Joins each handler with its row; the compiler sees to it that no row of a feature's contract is left out. */
export function implement<Rows extends Contract>(
  rows: Rows,
  handlers: Handlers<Rows>,
  preparations: Preparations<Rows> = {},
): Route[] {
  return Object.entries(handlers).map(([name, handler]) => ({
    name,
    row: rows[name] as Endpoint,
    handler: handler as Route['handler'],
    ...(preparations[name] ? { prepare: preparations[name] as NonNullable<Route['prepare']> } : {}),
  }));
}

/**
 * The request as its handler wants it.
 * @throws ApiError `invalid_request` that lists everything wrong with it
 */
export function parseRequest(row: Endpoint, input: unknown): object {
  const parsed = row.request.safeParse(input);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map((issue) => ({
    path: issue.path.join('.'),
    message: issue.message,
  }));
  const first = details[0];
  const message = first
    ? `${first.path ? `${first.path}: ` : ''}${first.message}`
    : 'the request is not valid';
  throw new ApiError('invalid_request', message, { details });
}

/** Calls a route without a network between, for the CLI on a data directory that no server runs on. */
export async function invoke(route: Route, input: unknown, call: Call): Promise<object> {
  const request = parseRequest(route.row, input);
  await route.prepare?.(request);
  return route.handler(request, call);
}
