// Writes JSON replies with the headers that all replies share.
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import helmet from 'helmet';
import { type Document, type DocumentParts, isWhole } from './document.ts';

/**
 * helmet writes the same headers on every reply. Capturing them once saves a sixth of the throughput.
 * No HSTS and no upgrade to HTTPS: on a LAN the service may use plain HTTP. The other headers that are left out concern
 * pages and plug-ins that a browser opens; the page has them.
 */
function helmetHeaders(): [string, string][] {
  const headers = new Map<string, string>();
  const recorder = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  };
  const middleware = helmet({
    strictTransportSecurity: false,
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  });
  middleware({} as IncomingMessage, recorder as unknown as ServerResponse, () => {});
  return [...headers];
}

const COMMON_HEADERS = helmetHeaders().flat();

/** Every header costs time on each reply, so only useful ones are sent. */
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
  // As a string, so that Node sends head and body in one write; a Buffer would take two.
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
  // ASCII text is identical in both encodings, and latin1 is much cheaper to write.
  response.end(text, length === text.length ? 'latin1' : 'utf8');
}

/**
 * Starts a stream of server-sent events. The connection closes with the stream, so that a stop does not wait for it.
 */
export function beginEventStream(response: ServerResponse, requestId: string): void {
  const headers = ['X-Request-Id', requestId, 'Cache-Control', 'no-store', 'Connection', 'close'];
  headers.push('Content-Type', 'text/event-stream; charset=utf-8');
  // Nginx would keep events back until its buffer is full.
  headers.push('X-Accel-Buffering', 'no');
  response.writeHead(200, headers.concat(COMMON_HEADERS));
}

/**
 * @param isFresh whether the caller already has this version, and gets a 304
 * @returns for a document in parts: resolves when the last part has been written or the caller has disconnected, and
 *   rejects if a part cannot be produced. The reply is then cut off, so that it cannot be mistaken for a complete one.
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
    // A 304 repeats no other headers, because the caller received them with the document (RFC 9110, section 15.4.5).
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

/** Sends parts as fast as the caller reads them. An error before the first part still becomes a JSON reply. */
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
