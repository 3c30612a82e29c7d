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

/** Collects every property name. @returns whether there are records, whose names are not known */
function collect(node: SchemaNode, names: Set<string>): boolean {
  const { properties = {}, items, anyOf = [], allOf = [], $defs = {}, additionalProperties } = node;
  for (const name of Object.keys(properties)) names.add(name);
  const below = [...Object.values(properties), ...(items ? [items] : []), ...anyOf, ...allOf];
  const free = [...below, ...Object.values($defs)].map((child) => collect(child, names));
  return free.includes(true) || typeof additionalProperties === 'object';
}

/** @throws CommandFailure wrong usage, before the call changes anything */
export function refuseUnknownField(row: Endpoint, field: string): void {
  if (row.documents) return;
  const names = new Set(['items']);
  const schema = z.toJSONSchema(row.reply, { io: 'input', unrepresentable: 'any' }) as SchemaNode;
  const hasFreeNames = collect(schema, names);
  if (hasFreeNames || field.split('.').every((name) => names.has(name))) return;
  throw unknownField(field, [...names]);
}

function unknownField(field: string, names: readonly string[]) {
  return usageFailure(
    `--output must be json, table, or a field of this command's reply: ${names.join(', ')} (got ${field})`,
  );
}
