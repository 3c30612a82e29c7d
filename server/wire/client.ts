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
function partsOf(row: Endpoint, input: object): RequestParts {
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
  signal?: AbortSignal;
}

interface Received {
  status: number;
  headers: { get(name: string): string | null };
  /** The whole body. */
  json(): Promise<unknown>;
  /** The body as it comes, however large it is. Fails if it ends early. */
  bytes(): AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** One exchange over HTTP: the only part of a call that differs between a browser and the CLI. */
export type Send = (url: string, request: Sent) => Promise<Received>;

/** Not every browser iterates over a stream by itself. */
async function* bytesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>> | null,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (stream === null) return;
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

const fetchSend: Send = async (url, request) => {
  const response = await fetch(url, request);
  const { status, headers } = response;
  return { status, headers, json: () => response.json(), bytes: () => bytesOf(response.body) };
};

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
 * @param root where the paths begin, without a trailing slash: `http://127.0.0.1:8787/license/api/svc`
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

/** Calls rows that answer with a file. The reply's body is still to be read. */
export function httpDownload(root: string, headers: Record<string, string> = {}, send: Send = fetchSend) {
  const call = exchange(root, headers, send);
  return async (row: Endpoint, input: object, signal?: AbortSignal): Promise<Received> => {
    const response = await call(row, input, signal);
    if (response.status !== 200) throw toFailure((await response.json()) as FailureEnvelope, response.status);
    return response;
  };
}
