// The typed client that the page, the CLI and the tests call the service with; it is derived from the contract's rows.
import type { Contract, Endpoint, ReplyOf, RequestInput } from './endpoint.ts';
import { ApiError, type FailureEnvelope } from './errors.ts';

/** Carries one call to wherever it is answered, and gives back the reply without `ok`. */
export type Transport = (name: string, row: Endpoint, input: object) => Promise<object>;

export type Client<Rows extends Contract> = {
  [Name in keyof Rows]: (input: RequestInput<Rows[Name]>) => Promise<ReplyOf<Rows[Name]>>;
};

/** One method per row; each throws `ApiError` with the code that the service gave. */
export function createClient<Rows extends Contract>(rows: Rows, transport: Transport): Client<Rows> {
  const methods = Object.entries(rows).map(([name, row]) => [
    name,
    (input: object) => transport(name, row, input),
  ]);
  return Object.fromEntries(methods) as Client<Rows>;
}

function queryString(input: object): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return query.size === 0 ? '' : `?${query}`;
}

function isFailure(reply: object): reply is FailureEnvelope {
  return 'error_code' in reply;
}

/**
 * Calls over HTTP.
 * @param root where the paths begin, without a trailing slash: `http://127.0.0.1:8787/license/api/svc`
 */
export function httpTransport(root: string, headers: Record<string, string> = {}): Transport {
  return async (_name, row, input) => {
    const inQuery = row.method === 'GET' || row.method === 'DELETE';
    const response = await fetch(root + row.path + (inQuery ? queryString(input) : ''), {
      method: row.method,
      headers: inQuery ? headers : { ...headers, 'content-type': 'application/json' },
      ...(inQuery ? {} : { body: JSON.stringify(input) }),
    });
    const reply = (await response.json()) as object;
    if (isFailure(reply)) {
      throw new ApiError(reply.error_code, reply.message, {
        status: response.status,
        ...(reply.details ? { details: reply.details } : {}),
      });
    }
    return reply;
  };
}
