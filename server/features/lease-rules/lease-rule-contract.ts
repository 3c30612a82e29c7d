// Rules about who may take the seats of a floating license. They apply from the next checkout.
import { z } from 'zod';
import { licenseRef } from '#server/features/licenses/license-contract.ts';
import { LEASE_RULE_TYPES } from '#server/rules/lease-rule-type.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { ERROR_STATUS, type ErrorCode } from '#server/wire/errors.ts';
import {
  fingerprint,
  id,
  network,
  pageOf,
  pageRequest,
  queryId,
  text,
  timestamp,
} from '#server/wire/fields.ts';
import { groupName, MAX_CLIENT_NAME } from './lease-group-contract.ts';

export { LEASE_RULE_TYPES, type LeaseRuleType } from '#server/rules/lease-rule-type.ts';

const ERROR_CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

/** Per license. */
export const MAX_RULES = 200;
/** Fits a 32-bit INTEGER column. */
const MAX_SEATS = 1_000_000_000;
const MAX_UNITS = 1000;

const license = z
  .union([licenseRef, id])
  .transform(String)
  .meta({ description: 'License ID or license key.' });

/** Strict: a misspelled field would make the rule match everyone. */
const match = z
  .strictObject({
    user: text(MAX_CLIENT_NAME).optional(),
    host: text(MAX_CLIENT_NAME).optional(),
    group: groupName.optional(),
    address: network.optional().meta({ description: 'An IP address, or a network in CIDR notation.' }),
  })
  .meta({
    description:
      'Whom the rule is about. All given fields must match; without fields, the rule is about everyone. Case does not matter in user and host names.',
  });

const matchChanges = z
  .strictObject({
    user: text(MAX_CLIENT_NAME).nullable().optional(),
    host: text(MAX_CLIENT_NAME).nullable().optional(),
    group: groupName.nullable().optional(),
    address: network.nullable().optional(),
  })
  .meta({ description: 'Changes the given fields of `match` and keeps the others; null removes one.' });

const units = z.int().min(1).max(MAX_SEATS);
const note = text(500).nullable();
const position = z.int().min(1).max(MAX_RULES);

const leaseRule = z
  .object({
    id,
    license_id: id,
    license_key: z.string(),
    position: z.int().meta({ description: 'Place among the rules of the license, from 1.' }),
    type: z.enum(LEASE_RULE_TYPES),
    match: z.object({
      user: z.string().optional(),
      host: z.string().optional(),
      group: z.string().optional(),
      address: z.string().optional(),
    }),
    units: z.int().nullable(),
    note: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'LeaseRule' });

const ruleFields = {
  type: z.enum(LEASE_RULE_TYPES).meta({
    description:
      '`reserve`: keeps `units` seats for the match. `max`: everyone in the match together holds at most `units` seats. `allow`, `deny`: the first that matches decides.',
  }),
  match,
  units: units
    .nullable()
    .meta({ description: 'Required for `reserve` and `max`; not for `allow` and `deny`.' }),
  note,
  position: position.meta({ description: 'Place among the rules of the license. Default: last.' }),
};

export const leaseRuleContract = {
  listLeaseRules: endpoint({
    method: 'GET',
    path: '/lease-rules/',
    auth: 'bearer',
    summary: 'List lease rules, by license in the order in which they apply',
    request: z.object({
      ...pageRequest,
      license: licenseRef.optional().meta({ description: 'Only rules of this license (ID or key).' }),
    }),
    reply: z.object(pageOf(leaseRule)),
    errors: ['license_not_found'],
  }),
  createLeaseRule: endpoint({
    method: 'POST',
    path: '/lease-rules/',
    auth: 'bearer',
    role: 'admin',
    idempotent: true,
    summary: 'Add a lease rule to a license',
    request: z.object({
      license,
      type: ruleFields.type,
      match: ruleFields.match,
      units: ruleFields.units.default(null),
      note: note.default(null),
      position: ruleFields.position.optional(),
    }),
    reply: z.object({ rule: leaseRule }),
    errors: ['license_not_found', 'lease_group_not_found'],
  }),
  updateLeaseRule: endpoint({
    method: 'PUT',
    path: '/lease-rules/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Change or move a lease rule; the next checkout follows it',
    request: z.object({
      id,
      ...z.object(ruleFields).partial().shape,
      match: match.optional().meta({ description: 'Replaces all fields of `match`.' }),
      match_changes: matchChanges.optional(),
    }),
    reply: z.object({ rule: leaseRule }),
    errors: ['lease_rule_not_found', 'lease_group_not_found'],
  }),
  deleteLeaseRule: endpoint({
    method: 'DELETE',
    path: '/lease-rules/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Delete a lease rule',
    request: z.object({ id: queryId.meta({ description: 'Rule ID.' }) }),
    reply: z.object({ rule: leaseRule }),
    errors: ['lease_rule_not_found'],
  }),
  tryLeaseRules: endpoint({
    method: 'POST',
    path: '/lease-rules/try/',
    auth: 'bearer',
    summary: 'Show what a checkout would get now, and which rules decide, without taking a seat',
    request: z.object({
      license,
      user: text(MAX_CLIENT_NAME).optional(),
      host: text(MAX_CLIENT_NAME).optional(),
      address: z.union([z.ipv4(), z.ipv6()]).optional().meta({ description: 'IP address of the client.' }),
      machine_fingerprint: fingerprint
        .optional()
        .meta({ description: 'Device of the client, for plans that count seats by device.' }),
      units: z.int().min(1).max(MAX_UNITS).default(1),
    }),
    reply: z.object({
      granted: z.boolean(),
      reason: z
        .enum(ERROR_CODES)
        .nullable()
        .meta({ description: 'The error code that the checkout would fail with.' }),
      decided_by: leaseRule.nullable().meta({ description: 'The rule that decides, if one does.' }),
      matching: z
        .array(leaseRule)
        .meta({ description: 'All rules that are about this requester, in order.' }),
      pool: z
        .object({
          total: z.int().nullable().meta({ description: 'Null: unlimited.' }),
          in_use: z.int(),
          available: z.int().nullable().meta({ description: 'Free seats that no rule reserves.' }),
          reserved: z.int().meta({ description: 'Free seats that rules reserve.' }),
        })
        .nullable()
        .meta({ description: 'Null unless the license is floating.' }),
    }),
    errors: ['license_not_found'],
  }),
};

export type LeaseRuleObject = z.input<typeof leaseRule>;
export type LeaseMatchObject = z.output<typeof match>;
export type LeaseMatchChanges = z.output<typeof matchChanges>;
