// A reply that is no JSON of its endpoint's schema: a certificate, a list, several PEM blocks in one file.

interface DocumentOptions {
  /** Quotes included; makes the reply one that a caller can ask for again with `If-None-Match`. */
  etag?: string;
  /** `Cache-Control`; nothing keeps the reply unless this says so. */
  cacheControl?: string;
}

export class Document {
  readonly contentType: string;
  readonly body: Buffer | string;
  readonly etag: string | undefined;
  readonly cacheControl: string;

  constructor(contentType: string, body: Buffer | string, options: DocumentOptions = {}) {
    this.contentType = contentType;
    this.body = body;
    this.etag = options.etag;
    this.cacheControl = options.cacheControl ?? 'no-store';
  }
}
