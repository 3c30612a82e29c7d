// An endpoint is declared once, as a row; routes, parsing, clients and the OpenAPI document all come from it.
import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';

/**
 * Who may call: `public` anybody, `bearer` the holder of an API token (`role: 'admin'` narrows it),
 * `admin` a signed-in administrator or the CLI on the admin listener, `sign_in` somebody who is about to become one.
 */
export type EndpointAuth = 'public' | 'bearer' | 'admin' | 'sign_in';

export interface Upload {
  /** Without parameters; text is UTF-8. */
  contentType: string;
  maxBytes: number;
}

export interface Endpoint<
  Request extends z.ZodType<object> = z.ZodType<object>,
  Reply extends z.ZodType<object> = z.ZodType<object>,
> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the listener's API root, with both slashes: `/authorize/token/`. Both forms are answered. */
  path: `/${string}/` | `/${string}.json`;
  auth: EndpointAuth;
  /** The role an API token needs beyond being valid. */
  role?: 'admin';
  summary: string;
  /**
   * Query parameters of GET and DELETE, JSON body otherwise; DELETE takes either. Where a file is uploaded, that is the
   * field `file`, and the others are query parameters. Unknown fields are dropped.
   */
  request: Request;
  /** The fields beside `ok: true`. */
  reply: Reply;
  /** What it can fail with beyond the failures of every endpoint. */
  errors: readonly ErrorCode[];
  /** The fields that a failure carries beside those of the envelope. */
  failureFields?: Partial<Record<ErrorCode, z.ZodObject>>;
  /** Where a failure travels with another status than usual. */
  errorStatus?: Partial<Record<ErrorCode, number>>;
  /** Takes an `Idempotency-Key`. */
  idempotent?: true;
  /** A GET with an effect, such as a link that works once: HEAD is refused. */
  refusesHead?: true;
  /** Replies carry an `ETag`, and `If-None-Match` is answered with 304. */
  etag?: true;
  /** Media types that it can answer with instead of JSON, each with what that is. */
  documents?: Readonly<Record<string, string>>;
  /** The body is a file of this media type instead of JSON. */
  upload?: Upload;
  /**
   * Which limit per caller address a call counts against: the one that all public endpoints share, unless said
   * otherwise; one of its own; or none.
   */
  rateLimit?: 'own' | 'none';
}

export type Contract = Record<string, Endpoint>;

/** Declares a row and keeps its precise types. */
export function endpoint<Request extends z.ZodType<object>, Reply extends z.ZodType<object>>(
  row: Endpoint<Request, Reply>,
): Endpoint<Request, Reply> {
  return row;
}

/** What a handler receives: parsed, defaults filled in. */
export type RequestOf<Row extends Endpoint> = z.output<Row['request']>;
/** What a caller may send. */
export type RequestInput<Row extends Endpoint> = z.input<Row['request']>;
/** What a handler returns and a caller receives, beside `ok`. */
export type ReplyOf<Row extends Endpoint> = z.input<Row['reply']>;
