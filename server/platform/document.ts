// A reply that is not JSON of its endpoint's schema: a certificate, a CRL, several PEM blocks in one file.

/** Produced while it is sent, so that it is never completely in memory. */
export type DocumentParts = AsyncIterable<string | Uint8Array>;

interface DocumentOptions {
  /** Including quotes; allows callers to use `If-None-Match`. */
  etag?: string;
  /** `Cache-Control`. Without it, the reply must not be cached. */
  cacheControl?: string;
  /** Suggested file name: ASCII letters, digits, `-`, `_` and dots. */
  fileName?: string;
  /** In bytes, if known in advance. */
  length?: number;
}

export class Document {
  readonly contentType: string;
  readonly body: Buffer | string | DocumentParts;
  readonly etag: string | undefined;
  readonly cacheControl: string;
  readonly fileName: string | undefined;
  readonly length: number | undefined;

  constructor(contentType: string, body: Buffer | string | DocumentParts, options: DocumentOptions = {}) {
    this.contentType = contentType;
    this.body = body;
    this.etag = options.etag;
    this.cacheControl = options.cacheControl ?? 'no-store';
    this.fileName = options.fileName;
    this.length = isWhole(body) ? Buffer.byteLength(body) : options.length;
  }
}

export function isWhole(body: Buffer | string | DocumentParts): body is Buffer | string {
  return typeof body === 'string' || Buffer.isBuffer(body);
}
