// The possible replies of an operation and their headers, for the OpenAPI document.
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import type { Endpoint, FieldsSchema } from '#server/wire/endpoint.ts';
import { ERROR_MEANINGS } from '#server/wire/error-meanings.ts';
import { ERROR_STATUS, type ErrorCode } from '#server/wire/errors.ts';
import { brokenRuleFields } from '#server/wire/fields.ts';

const EXAMPLE_REQUEST_ID = '0d9c5f0e-6a41-4b8e-9d55-3f1c6a2b7e90';

/** By name in `components.headers`. */
export const REPLY_HEADERS = {
  'X-Request-Id': {
    description: "The caller's request ID, if it is well-formed, or a new one. The log has the same ID.",
    schema: { type: 'string' },
    example: EXAMPLE_REQUEST_ID,
  },
  'WWW-Authenticate': {
    description: 'The expected kind of credential.',
    schema: { type: 'string' },
    example: 'Bearer',
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
    example: 17,
  },
  'RateLimit-Policy': {
    description: 'The rate limit and its period in seconds. Left out where no limit applies.',
    schema: { type: 'string' },
    example: '60;w=60',
  },
  'RateLimit-Limit': {
    description: 'Calls per period. Left out where no limit applies.',
    schema: { type: 'integer' },
    example: 60,
  },
  'RateLimit-Remaining': {
    description: 'Calls left in this period. Left out where no limit applies.',
    schema: { type: 'integer', minimum: 0 },
    example: 42,
  },
  'RateLimit-Reset': {
    description: 'Seconds until the period ends. Left out where no limit applies.',
    schema: { type: 'integer', minimum: 0 },
    example: 17,
  },
  ETag: {
    description: 'The version of the document, for `If-None-Match`.',
    schema: { type: 'string' },
    example: '"7"',
  },
  'Cache-Control': {
    description: 'How long the reply may be cached.',
    schema: { type: 'string' },
    example: 'no-store',
  },
} as const;

type HeaderName = keyof typeof REPLY_HEADERS;

const RATE_LIMIT_HEADERS: readonly HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

const failure = z.object({
  ok: z.literal(false),
  error_code: z.string(),
  message: z.string().meta({ description: 'For people. Its wording may change.' }),
  details: z
    .array(
      z.object({
        path: z.string().meta({ description: 'The field, such as `expires_at` or `features.2`.' }),
        ...brokenRuleFields,
      }),
    )
    .optional(),
  request_id: z.string().optional(),
});

/** All error codes of an operation, including those that its row does not list. */
function errorCodes(row: Endpoint): Set<ErrorCode> {
  const common: ErrorCode[] = ['invalid_request', 'internal_error', 'unavailable', 'overloaded'];
  const body: ErrorCode[] =
    row.method === 'GET' ? [] : ['invalid_json', 'payload_too_large', 'unsupported_media_type'];
  const bearer: ErrorCode[] =
    row.auth === 'bearer' ? ['unauthorized', ...(row.role ? (['forbidden'] as const) : [])] : [];
  const idempotent: ErrorCode[] = row.idempotent ? ['idempotency_conflict'] : [];
  // Calls with a valid API token are not limited; refused ones are.
  const limited: ErrorCode[] = row.rateLimit === 'none' ? [] : ['rate_limited'];
  return new Set([...row.errors, ...common, ...body, ...bearer, ...idempotent, ...limited]);
}

function failureSchema(row: Endpoint, codes: [ErrorCode, ...ErrorCode[]]) {
  const added = codes.map((code) => row.failureFields?.[code]).find((fields) => fields !== undefined);
  const base = added ? z.object({ ...failure.shape, ...added.partial().shape }) : failure;
  return base.extend({ error_code: z.enum(codes) });
}

function failureExample(code: ErrorCode): object {
  const message = ERROR_MEANINGS[code].replaceAll('`', '').replace(/\.$/u, '');
  return { ok: false, error_code: code, message, request_id: EXAMPLE_REQUEST_ID };
}

function failureResponse(row: Endpoint, codes: [ErrorCode, ...ErrorCode[]]): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code]}`).join('\n\n'),
    content: {
      'application/json': {
        schema: failureSchema(row, codes),
        example: failureExample(codes[0]),
      },
    },
  };
}

function success(row: Endpoint, example: object): ZodOpenApiResponseObject {
  const schema = z.object({ ok: z.literal(true), ...(row.reply as z.ZodObject).shape });
  const documents = Object.entries(row.documents ?? {}).map(([type, description]) => [
    type,
    { schema: z.string().meta({ description }) },
  ]);
  return {
    description: 'Success.',
    content: {
      'application/json': { schema, example: { ok: true, ...example } },
      ...(Object.fromEntries(documents) as object),
    },
  };
}

function accepted(fields: FieldsSchema, example: object): ZodOpenApiResponseObject {
  const schema = z.object({ ok: z.literal(true), ...(fields as z.ZodObject).shape });
  return {
    description: 'Accepted, not done yet. Ask again.',
    content: { 'application/json': { schema, example: { ok: true, ...example } } },
  };
}

/**
 * @param example the reply fields in addition to `ok`
 * @param acceptedExample the same of the reply with status 202
 */
export function responsesOf(
  row: Endpoint,
  example: object,
  acceptedExample: object = {},
): Record<string, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(errorCodes(row), (code) => row.errorStatus?.[code] ?? ERROR_STATUS[code]);
  const failures = [...byStatus].map(([status, codes]) => [
    String(status),
    failureResponse(row, codes as [ErrorCode, ...ErrorCode[]]),
  ]);
  return {
    200: success(row, example),
    ...(row.accepted ? { 202: accepted(row.accepted, acceptedExample) } : {}),
    ...(row.etag ? { 304: { description: 'The caller has the current version.' } } : {}),
    ...(Object.fromEntries(failures) as Record<string, ZodOpenApiResponseObject>),
  };
}

/** The headers of an operation's reply with this status. */
export function headersOf(row: Endpoint, status: string): HeaderName[] {
  const cached: HeaderName[] = row.etag && ['200', '304'].includes(status) ? ['ETag', 'Cache-Control'] : [];
  const limited = row.auth === 'public' && row.rateLimit !== 'none' && status !== '304';
  return [
    'X-Request-Id',
    ...cached,
    ...(limited || status === '429' ? RATE_LIMIT_HEADERS : []),
    ...(status === '401' && row.auth === 'bearer' ? (['WWW-Authenticate'] as const) : []),
    ...(status === '429' || status === '503' ? (['Retry-After'] as const) : []),
  ];
}
