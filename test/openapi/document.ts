// The published OpenAPI document, and a validator that also refuses fields that it does not declare.
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { TestServer } from '../helpers/test-server.ts';

type Json = Record<string, unknown>;

interface Content {
  schema: Json;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; schema: Json; required?: boolean }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { content?: Record<string, Content>; headers?: Json }>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Json>; headers: Json };
}

export async function readDocument(server: Pick<TestServer, 'get'>): Promise<OpenApi> {
  return (await server.get('/openapi.json')).body as OpenApi;
}

/** `[operationId, method, path, operation]` */
export function operationsOf({ paths }: OpenApi): [string, string, string, Operation][] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, string, string, Operation] => [
      operation.operationId,
      method.toUpperCase(),
      path,
      operation,
    ]),
  );
}

function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const { example, examples, ...schema } = part as Json;
  const entries = Object.entries(schema).map(([name, value]) => [name, closed(value)]);
  const copy = Object.fromEntries(entries) as Json;
  return copy.type === 'object' && copy.properties && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}

/** Compiles a schema of the document; objects may only have the fields that it names. */
export function strictValidator(document: OpenApi, schema: Json): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, allErrors: true });
  addFormats(ajv);
  // Where references lead.
  ajv.addKeyword('components');
  const components = { schemas: closed(document.components.schemas) };
  return ajv.compile({ ...(closed(schema) as Json), components });
}
