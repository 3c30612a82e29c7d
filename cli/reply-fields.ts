// The fields that `--output FIELD` can select from a reply.
import { z } from 'zod';
import type { Endpoint } from '#server/wire/endpoint.ts';
import { usageFailure } from './command-failure.ts';

interface SchemaNode {
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  allOf?: SchemaNode[];
  $ref?: string;
  $defs?: Record<string, SchemaNode>;
  additionalProperties?: unknown;
}

/** An object, or a list of objects, whose names the schema does not know. */
function isRecord({ items, anyOf = [], allOf = [], additionalProperties }: SchemaNode): boolean {
  const below = [...(items ? [items] : []), ...anyOf, ...allOf];
  return typeof additionalProperties === 'object' || below.some((child) => isRecord(child));
}

/** Collects every property name, and the names of records. */
function collect(node: SchemaNode, names: Set<string>, records: Set<string>): void {
  const { properties = {}, items, anyOf = [], allOf = [], $defs = {} } = node;
  for (const [name, child] of Object.entries(properties)) {
    names.add(name);
    if (isRecord(child)) records.add(name);
  }
  const below = [...Object.values(properties), ...(items ? [items] : []), ...anyOf, ...allOf];
  for (const child of [...below, ...Object.values($defs)]) collect(child, names, records);
}

/** @throws CommandFailure wrong usage, before the call changes anything */
export function refuseUnknownField(row: Endpoint, field: string): void {
  if (row.documents) return;
  const names = new Set(['items']);
  const records = new Set<string>();
  const schema = z.toJSONSchema(row.reply, { io: 'input', unrepresentable: 'any' }) as SchemaNode;
  collect(schema, names, records);
  // What is searched without its path, see `selectField`.
  const isFree = [schema, ...Object.values(schema.properties ?? {})].some((member) => isRecord(member));
  const path = field.split('.');
  const inRecord = path.findIndex((name) => records.has(name));
  const known = inRecord === -1 ? path : path.slice(0, inRecord + 1);
  if (isFree || known.every((name) => names.has(name))) return;
  throw unknownField(field, [...names]);
}

function unknownField(field: string, names: readonly string[]) {
  return usageFailure(
    `--output must be json, table, or a field of this command's reply: ${names.join(', ')} (got ${field})`,
  );
}
