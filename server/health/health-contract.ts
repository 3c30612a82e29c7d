import { z } from 'zod';
import { endpoint } from '../platform/endpoint.ts';
import { timestamp } from '../platform/fields.ts';

const check = z.enum(['ok', 'failing']);

export const healthContract = {
  health: endpoint({
    method: 'GET',
    path: '/health/',
    auth: 'public',
    // Probes from a load balancer share one address.
    rateLimit: 'none',
    summary: 'Is the service able to work?',
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
};
