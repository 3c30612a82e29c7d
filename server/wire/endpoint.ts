// An endpoint is declared once, as a row. Routes, parsing, clients and the OpenAPI document are derived from it.
import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';

/**
 * Who may call: `public` anyone, `bearer` a caller with an API token (`role: 'admin'` restricts it),
 * `admin` a signed-in administrator or the CLI on the admin listener, `sign_in` a caller that is signing in.
 */
export type EndpointAuth = 'public' | 'bearer' | 'admin' | 'sign_in';

export interface Upload {
  /** Without parameters; text is UTF-8. */
  contentType: string;
  maxBytes: number;
}

/** What endpoints use of a schema. To compare whole classes of the schema library takes the type checker half a minute. */
export interface FieldsSchema extends z.core.$ZodType<object> {
  safeParse(
    input: unknown,
    options?: z.core.ParseContext<z.core.$ZodIssue>,
  ): { success: true; data: object } | { success: false; error: z.ZodError };
}

export interface Endpoint<
  Request extends FieldsSchema = FieldsSchema,
  Reply extends FieldsSchema = FieldsSchema,
> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the listener's API root, with both slashes: `/authorize/token/`. Also served without the trailing slash. */
  path: `/${string}/` | `/${string}.json`;
  auth: EndpointAuth;
  /** The required role of the API token. */
  role?: 'admin';
  summary: string;
  /**
   * Query parameters of GET and DELETE, otherwise a JSON body; DELETE accepts both. For an upload, the file is the
   * field `file` and the other fields are query parameters. Unknown fields are ignored.
   */
  request: Request;
  /** The fields in addition to `ok: true`. */
  reply: Reply;
  /** The fields of a reply with status 202: the request was accepted and is not done yet. */
  accepted?: FieldsSchema;
  /** Error codes in addition to those that every endpoint can return. */
  errors: readonly ErrorCode[];
  /** Additional fields of a failure, by error code. */
  failureFields?: Partial<Record<ErrorCode, z.ZodObject>>;
  /** Status codes that differ from the error code's usual one. */
  errorStatus?: Partial<Record<ErrorCode, number>>;
  /** Accepts an `Idempotency-Key`. */
  idempotent?: true;
  /** A GET with an effect, such as a one-time link: HEAD is rejected. */
  refusesHead?: true;
  /** Replies have an `ETag`, and `If-None-Match` is answered with 304. */
  etag?: true;
  /** Media types that it can return instead of JSON, each with a description. */
  documents?: Readonly<Record<string, string>>;
  /** The body is a file of this media type instead of JSON. */
  upload?: Upload;
  /**
   * The limit per caller address that a call counts against: by default the one that public endpoints share, `own` for
   * a separate limit, `failures` for the limit of failed calls when the call fails, or `none`.
   */
  rateLimit?: 'own' | 'failures' | 'none';
  /** With `rateLimit: 'failures'`: whether a call with this reply counts as failed, although its status is 200. */
  isFailure?(reply: object): boolean;
}

export type Contract = Record<string, Endpoint>;

/** Declares a row with its precise types. */
export function endpoint<Request extends FieldsSchema, Reply extends FieldsSchema>(
  row: Endpoint<Request, Reply>,
): Endpoint<Request, Reply> {
  return row;
}

/** What a handler receives: parsed, with defaults. */
export type RequestOf<Row extends Endpoint> = z.output<Row['request']>;
/** What a caller may send. */
export type RequestInput<Row extends Endpoint> = z.input<Row['request']>;
/** What a handler returns and a caller receives, in addition to `ok`. */
export type ReplyOf<Row extends Endpoint> = z.input<Row['reply']>;
