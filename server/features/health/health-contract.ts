import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { timestamp } from '#server/wire/fields.ts';

const check = z.enum(['ok', 'failing']);

/** What has to be fine for the server to take requests (contract, section 8). */
const readiness = z.object({
  /** The database takes a write, and no damage is known. */
  database: check,
  /** The data directory is in place, its disk is writable and has space. */
  storage: check,
  /** The time of day can be relied on. */
  clock: check,
  /** Failing while the server starts or stops: requests under way finish, new ones belong elsewhere. */
  draining: check,
});

const readinessFields = z.object({ status: z.enum(['ready', 'not_ready']), checks: readiness });

export const healthContract = {
  health: endpoint({
    method: 'GET',
    path: '/health/',
    auth: 'public',
    // Probes from a load balancer share one address.
    rateLimit: 'none',
    summary: 'Check whether the service works: its database answers and its jobs run',
    request: z.object({}),
    reply: z.object({
      status: z.literal('ok'),
      version: z.string(),
      time: timestamp,
      uptime_seconds: z.number(),
      checks: z.object({ database: check, jobs: check }),
    }),
    errors: ['unavailable'],
  }),
  healthLive: endpoint({
    method: 'GET',
    path: '/health/live/',
    auth: 'public',
    rateLimit: 'none',
    summary: 'Check whether the process answers',
    request: z.object({}),
    reply: z.object({ status: z.literal('ok') }),
    errors: [],
  }),
  healthReady: endpoint({
    method: 'GET',
    path: '/health/ready/',
    auth: 'public',
    rateLimit: 'none',
    summary:
      'Check whether the server can take requests: it can write, its clock is right and it is not stopping',
    request: z.object({}),
    reply: readinessFields,
    errors: ['unavailable'],
    failureFields: { unavailable: readinessFields },
  }),
};
