// The typed client for the back office, the CLI and the tests, derived from the contract.
import type { Contract, Endpoint, ReplyOf, RequestInput } from './endpoint.ts';
import { ApiError, type FailureEnvelope } from './errors.ts';

/** Sends a call and returns the reply without `ok`. */
export type Transport = (name: string, row: Endpoint, input: object) => Promise<object>;

export type Client<Rows extends Contract> = {
  [Name in keyof Rows]: (input: RequestInput<Rows[Name]>) => Promise<ReplyOf<Rows[Name]>>;
};

/** One method per row. Each throws `ApiError` with the service's error code. */
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

/** The URL of a call that has no body. */
export const urlOf = (root: string, { path }: Endpoint, input: object): string =>
  root + path + queryString(input);

interface RequestParts {
  query: string;
  body?: string | Blob;
  contentType?: string;
}

/** Distributes the fields of an input. */
function partsOf(row: Endpoint, input: object): RequestParts {
  if (row.upload) {
    const { file, ...fields } = input as { file: Blob };
    return { query: queryString(fields), body: file, contentType: row.upload.contentType };
  }
  if (row.method === 'GET' || row.method === 'DELETE') return { query: queryString(input) };
  return { query: '', body: JSON.stringify(input), contentType: 'application/json' };
}

/** Converts a failed reply to an error. */
export function toFailure({ error_code: code, message, details }: FailureEnvelope, status: number): ApiError {
  return new ApiError(code, message, { status, ...(details ? { details } : {}) });
}

interface Sent {
  method: string;
  headers: Record<string, string>;
  body?: string | Blob;
  signal?: AbortSignal;
}

interface Received {
  status: number;
  headers: { get(name: string): string | null };
  /** The complete body. */
  json(): Promise<unknown>;
  /** The body as it arrives, of any size. Fails if it ends early. */
  bytes(): AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** One HTTP exchange. The only part that differs between browsers and the CLI. */
export type Send = (url: string, request: Sent) => Promise<Received>;

/** Not every browser supports async iteration of streams. */
async function* bytesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>> | null,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (stream === null) return;
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

export function toReceived(response: Response): Received {
  const { status, headers } = response;
  return { status, headers, json: () => response.json(), bytes: () => bytesOf(response.body) };
}

export const fetchSend: Send = async (url, request) => toReceived(await fetch(url, request));

function exchange(root: string, headers: Record<string, string>, send: Send) {
  return (row: Endpoint, input: object, signal?: AbortSignal): Promise<Received> => {
    const { query, body, contentType } = partsOf(row, input);
    return send(root + row.path + query, {
      method: row.method,
      headers: contentType === undefined ? headers : { ...headers, 'content-type': contentType },
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
    });
  };
}

/**
 * Calls over HTTP.
 * @param root base URL without a trailing slash: `http://127.0.0.1:8787/license/api/svc`
 */
export function httpTransport(
  root: string,
  headers: Record<string, string> = {},
  send: Send = fetchSend,
): Transport {
  const call = exchange(root, headers, send);
  return async (_name, row, input) => {
    const response = await call(row, input);
    const reply = (await response.json()) as object;
    if (isFailure(reply)) throw toFailure(reply, response.status);
    return reply;
  };
}

/** Calls endpoints that return a file. The caller reads the body. */
export function httpDownload(root: string, headers: Record<string, string> = {}, send: Send = fetchSend) {
  const call = exchange(root, headers, send);
  return async (row: Endpoint, input: object, signal?: AbortSignal): Promise<Received> => {
    const response = await call(row, input, signal);
    if (response.status !== 200) throw toFailure((await response.json()) as FailureEnvelope, response.status);
    return response;
  };
}
