// Whether the back office still has to introduce itself: until there is a license, or somebody has seen or skipped it.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';

const firstRun = z.object({ needed: z.boolean() });

export const firstRunAdminContract = {
  showFirstRun: endpoint({
    method: 'GET',
    path: '/first-run/',
    auth: 'admin',
    summary: 'Tell whether the first steps are still to be shown',
    request: z.object({}),
    reply: firstRun,
    errors: [],
  }),
  finishFirstRun: endpoint({
    method: 'POST',
    path: '/first-run/finish/',
    auth: 'admin',
    summary: 'Show the first steps no more, whether they were taken or skipped',
    request: z.object({ skipped: z.boolean().default(false) }),
    reply: firstRun,
    errors: [],
  }),
};
