// Signing in to the back office: a one-time code becomes a session cookie.
import { z } from 'zod';
import { endpoint } from '../platform/endpoint.ts';
import { timestamp } from '../platform/fields.ts';

export const adminSessionContract = {
  createSignInCode: endpoint({
    method: 'POST',
    path: '/session/code/',
    auth: 'admin',
    summary: 'Make the address of the back office with a fresh one-time code',
    request: z.object({}),
    reply: z.object({ address: z.string() }),
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
  signOut: endpoint({
    method: 'DELETE',
    path: '/session/',
    auth: 'admin',
    summary: 'End this session',
    request: z.object({}),
    reply: z.object({}),
    errors: [],
  }),
  overview: endpoint({
    method: 'GET',
    path: '/overview/',
    auth: 'admin',
    summary: 'What the first screen shows: where the API answers and which product is the default',
    request: z.object({}),
    reply: z.object({ api_base_url: z.string(), default_product: z.string(), version: z.string() }),
    errors: [],
  }),
};
