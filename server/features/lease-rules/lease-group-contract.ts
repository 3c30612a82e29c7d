// Groups of users or hosts, which lease rules name.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, needsOneOf, pageOf, pageRequest, queryId, text, timestamp } from '#server/wire/fields.ts';

export const LEASE_GROUP_KINDS = ['user', 'host'] as const;

export const MAX_GROUPS = 500;
export const MAX_MEMBERS = 2000;
export const MAX_GROUP_NAME = 100;
/** Of a user or host. */
export const MAX_CLIENT_NAME = 200;

export const groupName = text(MAX_GROUP_NAME).meta({
  description: 'Group name. Case matters.',
  examples: ['cad-team'],
});

const member = text(MAX_CLIENT_NAME);
const members = z.array(member).max(MAX_MEMBERS);

const leaseGroup = z
  .object({
    id,
    name: z.string(),
    kind: z.enum(LEASE_GROUP_KINDS),
    members: z.array(z.string()).meta({
      description:
        'User names, or host names, IP addresses and networks. Case does not matter. A group cannot contain groups.',
    }),
    rule_count: z.int().meta({ description: 'Rules that name the group.' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'LeaseGroup' });

export const leaseGroupContract = {
  listLeaseGroups: endpoint({
    method: 'GET',
    path: '/lease-groups/',
    auth: 'bearer',
    summary: 'List groups of users and hosts for lease rules, oldest first',
    request: z.object({ ...pageRequest }),
    reply: z.object(pageOf(leaseGroup)),
    errors: [],
  }),
  createLeaseGroup: endpoint({
    method: 'POST',
    path: '/lease-groups/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Create a group of users or hosts',
    request: z.object({
      name: groupName,
      kind: z.enum(LEASE_GROUP_KINDS).default('user'),
      members: members.default([]),
    }),
    reply: z.object({ group: leaseGroup }),
    errors: ['lease_group_exists'],
  }),
  updateLeaseGroup: endpoint({
    method: 'PUT',
    path: '/lease-groups/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Rename a group or change its members; the next checkout uses them',
    request: needsOneOf(
      z.object({
        id: id.optional(),
        name: groupName.optional(),
        new_name: groupName.optional(),
        members: members.optional().meta({ description: 'Replaces all members.' }),
        add_members: members.optional(),
        remove_members: members.optional(),
      }),
      'id',
      'name',
    ),
    reply: z.object({ group: leaseGroup }),
    errors: ['lease_group_not_found', 'lease_group_exists'],
  }),
  deleteLeaseGroup: endpoint({
    method: 'DELETE',
    path: '/lease-groups/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Delete a group that no rule names',
    request: needsOneOf(
      z.object({
        id: queryId.optional().meta({ description: 'Group ID.' }),
        name: groupName.optional().meta({ description: 'Group name.' }),
      }),
      'id',
      'name',
    ),
    reply: z.object({ group: leaseGroup }),
    errors: ['lease_group_not_found', 'lease_group_in_use'],
  }),
};

export type LeaseGroupObject = z.input<typeof leaseGroup>;
export type LeaseGroupKind = (typeof LEASE_GROUP_KINDS)[number];
