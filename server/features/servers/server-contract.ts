// The servers that use the same database.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { timestamp } from '#server/wire/fields.ts';

/** `lost`: it has stopped reporting without leaving. */
export const SERVER_STATES = ['ready', 'not_ready', 'draining', 'lost'] as const;

/** Whether a server reads lists from its replica and, if not, why. `checking`: it is not known yet. */
export const REPLICA_STATES = [
  'in_use',
  'checking',
  'unreachable',
  'not_replica',
  'other_database',
  'other_schema',
  'behind',
] as const;

const server = z.object({
  id: z.string(),
  name: z.string().meta({ description: 'The host name.' }),
  address: z.string(),
  version: z.string(),
  schema: z.string().meta({ description: 'The last migration that this version knows.' }),
  state: z.enum(SERVER_STATES),
  role: z.enum(['leader', 'follower']).meta({ description: 'The leader runs the jobs that all share.' }),
  started_at: timestamp,
  last_seen_at: timestamp,
  clock_skew_ms: z.int().meta({ description: 'How far its clock is ahead of the database’s.' }),
  database_ms: z.int().meta({ description: 'How long the database took to answer.' }),
  crl_number: z.int().nullable().meta({ description: 'The newest CRL that it serves.' }),
  replica: z.enum(REPLICA_STATES).nullable().meta({
    description:
      'Whether it reads lists from its replica (`in_use`); otherwise why not. Null for a server without a replica.',
  }),
  replica_lag_ms: z
    .int()
    .nullable()
    .meta({ description: 'How far its replica is behind; null if that is not known.' }),
  current: z.boolean().meta({ description: 'Whether this server has answered the call.' }),
});

export const serverAdminContract = {
  listServers: endpoint({
    method: 'GET',
    path: '/servers/',
    auth: 'admin',
    summary: 'List the servers that use the same database, the longest running first',
    request: z.object({}),
    reply: z.object({ items: z.array(server) }),
    errors: [],
  }),
};

export type ReplicaState = (typeof REPLICA_STATES)[number];
export type ServerState = (typeof SERVER_STATES)[number];
export type ServerObject = z.input<typeof server>;
