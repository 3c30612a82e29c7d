import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { timestamp } from '#server/wire/fields.ts';

const check = z.enum(['ok', 'failing']);

/** What a server needs to accept requests (contract, section 8). */
const readiness = z.object({
  /** The database takes a write, and no damage is known. */
  database: check,
  /** The data directory is in place, its disk is writable and has space. */
  storage: check,
  /** The system clock can be trusted. */
  clock: check,
  /** Failing while the server starts or stops: requests in progress finish; send new ones elsewhere. */
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
    summary: 'Check the health of the service',
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
    summary: 'Check whether the server can accept requests',
    request: z.object({}),
    reply: readinessFields,
    errors: ['unavailable'],
    failureFields: { unavailable: readinessFields },
  }),
};
