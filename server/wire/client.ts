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

interface RequestParts {
  query: string;
  body?: string | Blob;
  contentType?: string;
}

/** Where an input's fields go. */
export function partsOf(row: Endpoint, input: object): RequestParts {
  if (row.upload) {
    const { file, ...fields } = input as { file: Blob };
    return { query: queryString(fields), body: file, contentType: row.upload.contentType };
  }
  if (row.method === 'GET' || row.method === 'DELETE') return { query: queryString(input) };
  return { query: '', body: JSON.stringify(input), contentType: 'application/json' };
}

/** What a failed reply says. */
export function toFailure({ error_code: code, message, details }: FailureEnvelope, status: number): ApiError {
  return new ApiError(code, message, { status, ...(details ? { details } : {}) });
}

interface Sent {
  method: string;
  headers: Record<string, string>;
  body?: string | Blob;
}

/** As much of `fetch` as a call needs. */
export type Send = (url: string, request: Sent) => Promise<{ status: number; json(): Promise<unknown> }>;

/**
 * Calls over HTTP.
 * @param root where the paths begin, without a trailing slash: `http://127.0.0.1:8787/license/api/svc`
 */
export function httpTransport(
  root: string,
  headers: Record<string, string> = {},
  send: Send = fetch,
): Transport {
  return async (_name, row, input) => {
    const { query, body, contentType } = partsOf(row, input);
    const response = await send(root + row.path + query, {
      method: row.method,
      headers: contentType === undefined ? headers : { ...headers, 'content-type': contentType },
      ...(body === undefined ? {} : { body }),
    });
    const reply = (await response.json()) as object;
    if (isFailure(reply)) throw toFailure(reply, response.status);
    return reply;
  };
}
