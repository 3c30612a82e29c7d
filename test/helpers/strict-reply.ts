// Checks replies against the contract to the letter: a field that no row declares is a failure, too.
import { expect } from 'vitest';
import { z } from 'zod';
import type { Endpoint } from '#server/wire/endpoint.ts';
import type { Reply } from './test-server.ts';

/** The table of the contract's section 2, copied by hand: the server's own table is what is being checked. */
const STATUSES: Record<string, readonly number[]> = {
  invalid_request: [400],
  invalid_json: [400],
  missing_token: [400],
  unauthorized: [401],
  token_invalid: [401],
  forbidden: [403],
  license_revoked: [403, 409],
  license_expired: [403, 409],
  product_mismatch: [403],
  feature_not_included: [403],
  denied_by_rule: [403],
  not_found: [404],
  license_not_found: [404],
  plan_not_found: [404],
  token_not_found: [404],
  device_not_found: [404],
  webhook_not_found: [404],
  delivery_not_found: [404],
  certificate_not_found: [404],
  download_token_invalid: [404],
  import_not_found: [404],
  lease_not_found: [404],
  lease_rule_not_found: [404],
  lease_group_not_found: [404],
  method_not_allowed: [405],
  activation_limit_reached: [409],
  plan_exists: [409],
  plan_in_use: [409],
  plan_unchanged: [409],
  not_an_upgrade: [409],
  device_replaced: [409],
  device_already_active: [409],
  renewal_shortens: [409],
  expiry_changed: [409],
  authority_in_use: [409],
  license_is_floating: [409],
  license_is_node_locked: [409],
  no_seat_available: [409],
  borrow_limit_reached: [409],
  lease_group_exists: [409],
  lease_group_in_use: [409],
  idempotency_conflict: [409],
  lease_gone: [410],
  payload_too_large: [413],
  unsupported_media_type: [415],
  webhook_url_forbidden: [422],
  rate_limited: [429],
  internal_error: [500],
  unavailable: [503],
  overloaded: [503],
};

const failure = z.strictObject({
  ok: z.literal(false),
  error_code: z.enum(Object.keys(STATUSES)),
  // One line for people, and never a stack or a path of this machine.
  message: z.string().regex(/^(?!.*(?:node_modules|\.ts:|\.js:|SQLITE|SELECT )).{3,500}$/u),
  details: z
    .array(
      z.strictObject({
        path: z.string(),
        message: z.string().min(1),
        reason: z
          .string()
          .regex(/^[a-z0-9_]+$/u)
          .optional(),
        // Limits, names that the server knows, and of what the caller sent only what is in the message.
        values: z
          .strictObject({
            min: z.int(),
            max: z.int(),
            got: z.int(),
            line: z.int(),
            choices: z.array(z.string()),
            fields: z.array(z.string()),
            character: z.string().regex(/^U\+[0-9A-F]{4,6}$/u),
            plan: z.string(),
            product: z.string(),
            path: z.string(),
            address: z.string(),
            database: z.string(),
            code: z.string(),
            certificate: z.string(),
            key_type: z.string(),
            time: z.iso.datetime(),
          })
          .partial()
          .optional(),
      }),
    )
    .min(1)
    .optional(),
  request_id: z.string().min(1).optional(),
});

/** Kept, because making one takes longer than checking a reply. */
const strictSchemas = new WeakMap<object, z.ZodType>();

function strict(schema: z.ZodType): z.ZodType {
  const known = strictSchemas.get(schema) ?? makeStrict(schema);
  strictSchemas.set(schema, known);
  return known;
}

function makeStrict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
    return z.strictObject(Object.fromEntries(fields.map(([name, field]) => [name, strict(field)])));
  }
  if (schema instanceof z.ZodArray) return z.array(strict(schema.element as z.ZodType));
  if (schema instanceof z.ZodNullable) return strict(schema.unwrap() as z.ZodType).nullable();
  if (schema instanceof z.ZodOptional) return strict(schema.unwrap() as z.ZodType).optional();
  return schema;
}

/** Throws what is wrong with a success reply. */
export function expectSuccess(row: Endpoint, reply: Pick<Reply, 'status' | 'body'>): void {
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200, body: { ok: true } });
  const { ok, ...fields } = reply.body as { ok: true };
  const checked = strict(row.reply as z.ZodType).safeParse(fields);
  const advice = `the reply of ${row.method} ${row.path} is not what its endpoint declares as \`reply\``;
  expect(checked.error?.issues ?? [], advice).toEqual([]);
}

/** @param status where the contract gives a code two of them */
export function expectFailure(reply: Pick<Reply, 'status' | 'body'>, code: string, status?: number): void {
  const said = JSON.stringify(reply.body);
  expect([reply.status, reply.body?.error_code], said).toEqual([status ?? STATUSES[code]?.[0], code]);
  expect(failure.safeParse(reply.body).error?.issues ?? [], said).toEqual([]);
}

/** What every JSON reply carries, whatever it says. */
export function expectCommonHeaders(headers: Headers): void {
  expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/u);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    // What has an ETag may be kept, if it is asked about each time.
    'cache-control': headers.has('etag') ? 'no-cache' : 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': expect.stringMatching(/^(DENY|SAMEORIGIN)$/u) as string,
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': expect.stringContaining("default-src 'none'") as string,
  });
  expect(headers.has('x-powered-by')).toBe(false);
}
