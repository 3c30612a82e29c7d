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

const DOCUMENT = 'https://document.example/openapi';

/** The same schema, closed: objects may only have the fields that it names. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const { example, examples, $ref, ...schema } = part as Json;
  if (typeof $ref === 'string') return { $ref: DOCUMENT + $ref };
  const entries = Object.entries(schema).map(([name, value]) => [name, closed(value)]);
  const copy = Object.fromEntries(entries) as Json;
  return copy.type === 'object' && copy.properties && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}

interface Compiled {
  ajv: Ajv2020;
  /** By the text of their schema: many replies have the same. */
  validators: Map<string, ValidateFunction>;
}

/** By document, as compiling its components takes long. */
const compiled = new WeakMap<OpenApi, Compiled>();

function compiledOf(document: OpenApi): Compiled {
  const known = compiled.get(document);
  if (known) return known;
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, allErrors: true });
  addFormats(ajv);
  ajv.addKeyword('components');
  ajv.addSchema({ $id: DOCUMENT, components: { schemas: closed(document.components.schemas) } });
  const made = { ajv, validators: new Map<string, ValidateFunction>() };
  compiled.set(document, made);
  return made;
}

/** Compiles a schema of the document, closed. */
export function strictValidator(document: OpenApi, schema: Json): ValidateFunction {
  const { ajv, validators } = compiledOf(document);
  const text = JSON.stringify(schema);
  const validate = validators.get(text) ?? ajv.compile(closed(schema) as Json);
  validators.set(text, validate);
  return validate;
}
