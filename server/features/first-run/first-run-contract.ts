// Whether the back office shows its first steps: until a license exists, or someone has finished or skipped them.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';

const firstRun = z.object({ needed: z.boolean() });

export const firstRunAdminContract = {
  showFirstRun: endpoint({
    method: 'GET',
    path: '/first-run/',
    auth: 'admin',
    summary: 'Show whether the first steps are due',
    request: z.object({}),
    reply: firstRun,
    errors: [],
  }),
  finishFirstRun: endpoint({
    method: 'POST',
    path: '/first-run/finish/',
    auth: 'admin',
    summary: 'Finish or skip the first steps',
    request: z.object({ skipped: z.boolean().default(false) }),
    reply: firstRun,
    errors: [],
  }),
};
