// Writes JSON replies, with the headers that every reply carries.
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { Document } from './document.ts';

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

/** @param isFresh whether the caller has it already, and only has to be told so */
export function sendDocument(
  response: ServerResponse,
  document: Document,
  requestId: string,
  isFresh: boolean,
): void {
  const { body, etag } = document;
  const headers = ['X-Request-Id', requestId, 'Cache-Control', document.cacheControl, 'Vary', 'Accept'];
  if (etag !== undefined) headers.push('ETag', etag);
  if (isFresh) {
    // What else there is to say of it the caller has been told with the document (RFC 9110, section 15.4.5).
    response.writeHead(304, headers).end();
    return;
  }
  headers.push('Content-Type', document.contentType, 'Content-Length', String(Buffer.byteLength(body)));
  response.writeHead(200, headers.concat(COMMON_HEADERS)).end(body);
}
