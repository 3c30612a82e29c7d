// Writes JSON replies, with the headers that every reply carries.
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import helmet from 'helmet';
import { type Document, type DocumentParts, isWhole } from './document.ts';

/**
 * helmet writes the same headers on every reply. Asking it once and replaying what it wrote
 * keeps a sixth of the throughput. No HSTS and no upgrade to HTTPS: on a LAN the service may speak plain HTTP.
 */
function helmetHeaders(): [string, string][] {
  const headers = new Map<string, string>();
  const recorder = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  };
  const middleware = helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  });
  middleware({} as IncomingMessage, recorder as unknown as ServerResponse, () => {});
  return [...headers];
}

const COMMON_HEADERS = helmetHeaders().flat();

/** Each header costs its check at every reply, so there is none without a use. */
const JSON_HEADERS = [
  ...COMMON_HEADERS,
  'Cache-Control',
  'no-store',
  'Content-Type',
  'application/json; charset=utf-8',
];

/** Sends `body` as the whole reply. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  requestId: string,
  extraHeaders: readonly string[] = [],
): void {
  // As text, so that Node sends head and body in one write; as bytes it would take two.
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  const headers: OutgoingHttpHeader[] = JSON_HEADERS.concat(
    'X-Request-Id',
    requestId,
    'Content-Length',
    String(length),
    extraHeaders,
  );
  response.writeHead(status, headers);
  // Text of ASCII alone is the same in both encodings, and much cheaper to write in this one.
  response.end(text, length === text.length ? 'latin1' : 'utf8');
}

/** Begins a stream of server-sent events, with whose end the connection ends: nothing at a stop has to wait for it. */
export function beginEventStream(response: ServerResponse, requestId: string): void {
  const headers = ['X-Request-Id', requestId, 'Cache-Control', 'no-store', 'Connection', 'close'];
  headers.push('Content-Type', 'text/event-stream; charset=utf-8');
  response.writeHead(200, headers.concat(COMMON_HEADERS));
}

/**
 * @param isFresh whether the caller has it already, and only has to be told so
 * @returns for a document in parts, what ends when the last of them is on its way, or the caller has gone; it fails with
 *   whatever keeps a part from being made, and what was begun by then is cut off, so that nobody takes it for the whole
 */
export function sendDocument(
  response: ServerResponse,
  document: Document,
  requestId: string,
  isFresh: boolean,
): Promise<void> | undefined {
  const { body, etag } = document;
  const headers = ['X-Request-Id', requestId, 'Cache-Control', document.cacheControl, 'Vary', 'Accept'];
  if (etag !== undefined) headers.push('ETag', etag);
  if (isFresh) {
    // What else there is to say of it the caller has been told with the document (RFC 9110, section 15.4.5).
    response.writeHead(304, headers).end();
    return undefined;
  }
  headers.push('Content-Type', document.contentType);
  if (document.length !== undefined) headers.push('Content-Length', String(document.length));
  if (document.fileName !== undefined)
    headers.push('Content-Disposition', `attachment; filename="${document.fileName}"`);
  headers.push(...COMMON_HEADERS);
  if (!isWhole(body)) return sendParts(response, headers, body[Symbol.asyncIterator]());
  response.writeHead(200, headers).end(body);
  return undefined;
}

type Parts = ReturnType<DocumentParts[typeof Symbol.asyncIterator]>;

/** As fast as the caller takes it. What goes wrong before the first part can still be told in the envelope. */
async function sendParts(response: ServerResponse, headers: string[], parts: Parts): Promise<void> {
  const first = await parts.next();
  if (response.destroyed || response.req.method === 'HEAD') {
    await parts.return?.();
    if (!response.destroyed) response.writeHead(200, headers).end();
    return;
  }
  response.writeHead(200, headers);
  try {
    await pipeline(continued(first, parts), response);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

async function* continued(first: Awaited<ReturnType<Parts['next']>>, parts: Parts) {
  try {
    for (let part = first; !part.done; part = await parts.next()) yield part.value;
  } finally {
    await parts.return?.();
  }
}
