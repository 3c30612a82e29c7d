// Signing in to the back office: a one-time code is exchanged for a session cookie.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { timestamp } from '#server/wire/fields.ts';

const sessionId = z.string().regex(/^[0-9a-f]{16}$/u, 'must be a session ID');

const session = z.object({
  id: sessionId,
  signed_in_at: timestamp,
  last_used_at: timestamp,
  expires_at: timestamp,
  user_agent: z.string().nullable(),
  /** Whether this is the caller's own session. */
  current: z.boolean(),
});

export const adminSessionContract = {
  createSignInCode: endpoint({
    method: 'POST',
    path: '/session/code/',
    auth: 'admin',
    summary: 'Create a back office address with a new one-time code',
    request: z.object({}),
    reply: z.object({
      address: z.string().meta({ description: 'For browsers on the machine of the server.' }),
      proxied_address: z
        .string()
        .optional()
        .meta({ description: 'The same code at `admin_url`. Absent if that is not set.' }),
    }),
    errors: [],
  }),
  signIn: endpoint({
    method: 'POST',
    path: '/session/',
    auth: 'sign_in',
    summary: 'Exchange a one-time code for a session cookie',
    request: z.object({ code: z.string().max(100) }),
    reply: z.object({ expires_at: timestamp }),
    errors: [],
  }),
  signInHelp: endpoint({
    method: 'GET',
    path: '/session/help/',
    auth: 'sign_in',
    summary: 'Show the command that prints a sign-in link',
    request: z.object({}),
    reply: z.object({ command: z.string(), version: z.string() }),
    errors: [],
  }),
  signOut: endpoint({
    method: 'DELETE',
    path: '/session/',
    auth: 'admin',
    summary: 'End this session',
    request: z.object({}),
    reply: z.object({}),
    errors: [],
  }),
  listSessions: endpoint({
    method: 'GET',
    path: '/sessions/',
    auth: 'admin',
    summary: 'List back office sessions, newest first',
    request: z.object({}),
    reply: z.object({ items: z.array(session) }),
    errors: [],
  }),
  endSession: endpoint({
    method: 'POST',
    path: '/sessions/end/',
    auth: 'admin',
    summary: 'Sign a session out',
    request: z.object({ id: sessionId }),
    reply: z.object({}),
    errors: ['not_found'],
  }),
  endOtherSessions: endpoint({
    method: 'POST',
    path: '/sessions/end-others/',
    auth: 'admin',
    summary: 'Sign out every session but this one',
    request: z.object({}),
    reply: z.object({ ended: z.int() }),
    errors: [],
  }),
  serverInfo: endpoint({
    method: 'GET',
    path: '/server-info/',
    auth: 'admin',
    summary: 'Get the API base URL, the default product and the version',
    request: z.object({}),
    reply: z.object({ api_base_url: z.string(), default_product: z.string(), version: z.string() }),
    errors: [],
  }),
};
