// A reply that is no JSON of its endpoint's schema: a certificate, a list, several PEM blocks in one file.

/** What is made while it is sent: nobody holds the whole of it. */
export type DocumentParts = AsyncIterable<string | Uint8Array>;

interface DocumentOptions {
  /** Quotes included; makes the reply one that a caller can ask for again with `If-None-Match`. */
  etag?: string;
  /** `Cache-Control`; nothing keeps the reply unless this says so. */
  cacheControl?: string;
  /** Offered to be saved under this name: ASCII letters, digits, `-`, `_` and dots. */
  fileName?: string;
  /** In bytes, where parts are known to come to it. */
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
