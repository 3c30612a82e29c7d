// The OpenAPI document, made from the contract's rows.
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { z } from 'zod';
import type { Contract, Endpoint } from '#server/wire/endpoint.ts';
import { ERROR_STATUS, type ErrorCode } from '#server/wire/errors.ts';

interface Description {
  title: string;
  version: string;
  /** The API's address, without a trailing slash. */
  server: string;
}

const failure = z
  .object({
    ok: z.literal(false),
    error_code: z.string(),
    message: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    request_id: z.string().optional(),
  })
  .meta({ id: 'Failure' });

/** What every endpoint can answer, beside what its row says. */
function errorCodes(row: Endpoint): ErrorCode[] {
  const common: ErrorCode[] = ['invalid_request', 'internal_error', 'unavailable', 'overloaded'];
  const body: ErrorCode[] =
    row.method === 'GET' ? [] : ['invalid_json', 'payload_too_large', 'unsupported_media_type'];
  const bearer: ErrorCode[] =
    row.auth === 'bearer' ? ['unauthorized', ...(row.role ? (['forbidden'] as const) : [])] : [];
  const idempotent: ErrorCode[] = row.idempotent ? ['idempotency_conflict'] : [];
  // Of calls with an API token, only refused ones are limited.
  const limited: ErrorCode[] = row.rateLimit === 'none' ? [] : ['rate_limited'];
  return [...row.errors, ...common, ...body, ...bearer, ...idempotent, ...limited];
}

/** With the fields that one of these failures adds, if any does. */
function failureSchema(row: Endpoint, codes: readonly ErrorCode[]) {
  const added = codes.map((code) => row.failureFields?.[code]).find((fields) => fields !== undefined);
  return added ? z.object({ ...failure.shape, ...added.partial().shape }) : failure;
}

function failures(row: Endpoint) {
  const byStatus = Map.groupBy(
    new Set(errorCodes(row)),
    (code) => row.errorStatus?.[code] ?? ERROR_STATUS[code],
  );
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.join(', '),
        content: { 'application/json': { schema: failureSchema(row, codes) } },
      },
    ]),
  );
}

function success(row: Endpoint) {
  const schema = z.object({ ok: z.literal(true), ...(row.reply as z.ZodObject).shape });
  const documents = Object.entries(row.documents ?? {}).map(([type, description]) => [
    type,
    { schema: z.string().meta({ description }) },
  ]);
  return {
    description: 'Done',
    content: { 'application/json': { schema }, ...(Object.fromEntries(documents) as object) },
  };
}

const idempotencyKey = z
  .string()
  .max(255)
  .optional()
  .meta({ description: 'The same key and body give the first reply again' });

/** A DELETE takes its fields from the query or from a body, so that none of them has to be in the query. */
function queryOf(row: Endpoint): z.ZodObject {
  const request = row.request as z.ZodObject;
  if (row.method !== 'DELETE') return request;
  const fields = Object.entries(request.shape) as [string, z.ZodType][];
  return z.object(Object.fromEntries(fields.map(([name, field]) => [name, field.optional()])));
}

function operation(name: string, row: Endpoint): ZodOpenApiOperationObject {
  const inQuery = row.method === 'GET' || row.method === 'DELETE';
  return {
    operationId: name,
    summary: row.summary,
    ...(row.auth === 'bearer' ? { security: [{ api_token: [] }] } : { security: [] }),
    requestParams: {
      ...(inQuery ? { query: queryOf(row) } : {}),
      ...(row.idempotent ? { header: z.object({ 'Idempotency-Key': idempotencyKey }) } : {}),
    },
    ...(inQuery
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: row.request } } } }),
    responses: { 200: success(row), ...failures(row) },
  };
}

/** An OpenAPI 3.1 document of all rows. */
export function openApiDocument(contract: Contract, { title, version, server }: Description): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const [name, row] of Object.entries(contract)) {
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operation(name, row) };
  }
  return createDocument({
    openapi: '3.1.1',
    info: { title, version },
    servers: [{ url: server }],
    paths,
    components: {
      securitySchemes: { api_token: { type: 'http', scheme: 'bearer', description: 'API token, `ldk_…`' } },
    },
  });
}
