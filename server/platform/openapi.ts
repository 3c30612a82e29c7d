// Generates the OpenAPI document from the contract.
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { z } from 'zod';
import type { Contract, Endpoint } from '#server/wire/endpoint.ts';
import { headersOf, REPLY_HEADERS, responsesOf } from './openapi-replies.ts';
import { cleanSchemas } from './openapi-schema.ts';
import { pascalCase } from './pascal-case.ts';

/** Documentation of an operation in addition to its row. */
export interface OperationNotes {
  tag: string;
  description: string;
  /** An example request; absent for operations without fields. */
  request?: object;
  /** An example reply without `ok`. */
  reply: object;
  /** The same of a reply with status 202. */
  accepted?: object;
}

export interface EventNotes {
  /** The cause of the event. */
  trigger: string;
  body: z.ZodObject;
  example: object;
}

interface Description {
  title: string;
  version: string;
  /** The API's address, without a trailing slash. */
  server: string;
  description: string;
  tags: { name: string; description: string }[];
  /** By row name. */
  operations: Readonly<Record<string, OperationNotes>>;
  /** By event name. */
  events: Readonly<Record<string, EventNotes>>;
  /** The tag of all events. */
  eventTag: string;
}

const idempotencyKey = z
  .string()
  .regex(/^[!-~]{1,255}$/u)
  .optional()
  .meta({
    description:
      'The same key and body within 24 hours give the first reply again. A key belongs to one endpoint and one API token. A call that fails does not use up its key.',
    examples: ['order-4711-renewal'],
  });

const ifNoneMatch = z
  .string()
  .optional()
  .meta({ description: 'The `ETag` of the version that the caller has.', examples: ['"7"'] });

function fieldsOf(row: Endpoint): [string, z.ZodType][] {
  return Object.entries((row.request as z.ZodObject).shape);
}

/** A DELETE takes its fields from the query or from a body, so no query parameter is required. */
function queryOf(row: Endpoint): z.ZodObject {
  const fields = fieldsOf(row).map(([name, field]) => [
    name,
    row.method === 'DELETE' ? field.optional().meta({ ...field.meta() }) : field,
  ]);
  return z.object(Object.fromEntries(fields) as z.ZodRawShape);
}

function parametersOf(row: Endpoint): NonNullable<ZodOpenApiOperationObject['requestParams']> {
  const inQuery = (row.method === 'GET' || row.method === 'DELETE') && fieldsOf(row).length > 0;
  return {
    ...(inQuery ? { query: queryOf(row) } : {}),
    ...(row.idempotent ? { header: z.object({ 'Idempotency-Key': idempotencyKey }) } : {}),
    ...(row.etag ? { header: z.object({ 'If-None-Match': ifNoneMatch }) } : {}),
  };
}

function bodyOf(row: Endpoint, example: object): Pick<ZodOpenApiOperationObject, 'requestBody'> {
  if (row.method === 'GET') return {};
  const isDelete = row.method === 'DELETE';
  const schema = isDelete ? queryOf(row) : row.request;
  return { requestBody: { required: !isDelete, content: { 'application/json': { schema, example } } } };
}

function operation(name: string, row: Endpoint, notes: OperationNotes): ZodOpenApiOperationObject {
  return {
    operationId: name,
    tags: [notes.tag],
    summary: row.summary,
    description: notes.description,
    security: row.auth === 'bearer' ? [{ api_token: [] }] : [],
    requestParams: parametersOf(row),
    ...bodyOf(row, notes.request ?? {}),
    responses: responsesOf(row, notes.reply, notes.accepted),
  };
}

const eventHeaders = z.object({
  'X-License-Event': z.string().meta({ description: 'The name of the event.' }),
  'X-License-Delivery': z.int().meta({
    description:
      'The ID of the delivery, the same for every retry. Ignore a delivery that was processed before. A test event, `webhook.test`, has 0.',
    examples: [42],
  }),
  'X-License-Webhook-Signature': z
    .string()
    .regex(/^sha256=[0-9a-f]{64}$/u)
    .meta({
      description:
        '`sha256=` and the lowercase hex HMAC-SHA256 of the body. The key is the secret as shown, including `whsec_`.',
    }),
  'webhook-id': z.string().meta({ description: 'Standard Webhooks: the ID of the event.' }),
  'webhook-timestamp': z
    .string()
    .meta({ description: 'Standard Webhooks: the time of the attempt in seconds since 1970.' }),
  'webhook-signature': z.string().meta({
    description:
      'Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body`. The key is the base64-decoded part of the secret after `whsec_`. After a rotation, followed by signatures with the replaced secrets, separated by spaces.',
  }),
});

function eventOperation(event: string, tag: string, notes: EventNotes): ZodOpenApiOperationObject {
  return {
    operationId: `on${pascalCase(event)}`,
    tags: [tag],
    summary: notes.trigger.replace(/\.$/u, ''),
    description: `Sent to every webhook whose scope is \`all\` or \`${event}\`. ${notes.trigger}`,
    security: [],
    requestParams: { header: eventHeaders },
    requestBody: {
      required: true,
      content: { 'application/json': { schema: notes.body, example: notes.example } },
    },
    responses: {
      '2XX': { description: 'The receiver accepts the delivery.' },
      '4XX': { description: 'The delivery is retried. Reply with 401 if the signature does not match.' },
      '5XX': { description: 'The delivery is retried.' },
    },
  };
}

interface PlainOperation {
  parameters?: { name: string; in: string; example?: unknown }[];
  responses: Record<string, { headers?: object }>;
}

/** Adds what zod-openapi cannot express: reply headers, and the examples of query parameters. */
function complete(
  paths: Record<string, Record<string, PlainOperation>>,
  contract: Contract,
  operations: Description['operations'],
): void {
  for (const [name, row] of Object.entries(contract)) {
    const plain = paths[row.path]?.[row.method.toLowerCase()];
    if (!plain) continue;
    const { parameters = [], responses } = plain;
    const examples = (operations[name]?.request ?? {}) as Record<string, unknown>;
    for (const parameter of parameters)
      if (parameter.in === 'query' && parameter.name in examples)
        parameter.example = examples[parameter.name];
    for (const [status, response] of Object.entries(responses)) {
      response.headers = Object.fromEntries(
        headersOf(row, status).map((header) => [header, { $ref: `#/components/headers/${header}` }]),
      );
    }
  }
}

/** Returns an OpenAPI 3.1 document of all rows and events. */
export function openApiDocument(contract: Contract, description: Description): object {
  const { title, version, server, tags, operations, events, eventTag } = description;
  const paths: ZodOpenApiPathsObject = {};
  for (const [name, row] of Object.entries(contract)) {
    const notes = operations[name];
    if (!notes) throw new Error(`the API documentation of ${name} is missing`);
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operation(name, row, notes) };
  }
  const webhooks = Object.entries(events).map(([event, notes]) => [
    event,
    { post: eventOperation(event, eventTag, notes) },
  ]);
  const document = createDocument({
    openapi: '3.1.1',
    info: {
      title,
      version,
      description: description.description,
      contact: { name: title, url: `${server}/docs/` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server, description: 'This server.' }],
    tags,
    paths,
    webhooks: Object.fromEntries(webhooks) as ZodOpenApiPathsObject,
    components: {
      securitySchemes: {
        api_token: { type: 'http', scheme: 'bearer', description: 'An API token (`ldk_…`).' },
      },
    },
  });
  const clean = cleanSchemas(document) as typeof document;
  complete(clean.paths as unknown as Parameters<typeof complete>[0], contract, operations);
  return { ...clean, components: { ...clean.components, headers: REPLY_HEADERS } };
}
