// Simplifies the schemas that zod generates.

type Json = Record<string, unknown>;

/** Keys whose values must not be treated as schemas. */
const LITERALS = new Set(['example', 'examples', 'default', 'const', 'enum']);
/** Formats that make the generated pattern redundant. */
const FORMATS_WITHOUT_PATTERN = new Set(['date-time', 'date', 'email', 'uuid', 'base64']);

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && schema.type === 'null';
}

/** `anyOf: [{type: 'integer'}, {type: 'null'}]` becomes `type: ['integer', 'null']`. */
function withoutNullBranch(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || !anyOf.some(isNull)) return schema;
  const branch = anyOf.find((each) => !isNull(each)) as Json;
  if (typeof branch.type !== 'string') return schema;
  const values = Array.isArray(branch.enum) ? { enum: [...(branch.enum as unknown[]), null] } : {};
  return { ...branch, ...rest, type: [branch.type, 'null'], ...values };
}

/** Turns a record with known keys into an object with these properties. */
function withNamedProperties(schema: Json): Json {
  const { propertyNames, additionalProperties, ...rest } = schema;
  const names = isObject(propertyNames) ? propertyNames.enum : undefined;
  if (!Array.isArray(names)) return schema;
  return { ...rest, properties: Object.fromEntries(names.map((name) => [name, additionalProperties])) };
}

function withoutNoise(schema: Json): Json {
  const clean = withNamedProperties(withoutNullBranch(schema));
  if (clean.minimum === Number.MIN_SAFE_INTEGER) delete clean.minimum;
  if (clean.maximum === Number.MAX_SAFE_INTEGER) delete clean.maximum;
  if (typeof clean.format === 'string' && FORMATS_WITHOUT_PATTERN.has(clean.format)) delete clean.pattern;
  // Not a JSON Schema format; `contentEncoding` expresses it.
  if (clean.format === 'base64') delete clean.format;
  // Later versions add fields, which clients must not reject.
  if (clean.additionalProperties === false) delete clean.additionalProperties;
  return clean;
}

/** @param value a document or a part of it */
export function cleanSchemas(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleanSchemas);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, part]) => [
    name,
    LITERALS.has(name) ? part : cleanSchemas(part),
  ]);
  return withoutNoise(Object.fromEntries(entries) as Json);
}
