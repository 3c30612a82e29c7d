// The Ed25519 keys that license files are signed with.
import { z } from 'zod';
import { endpoint } from '../platform/endpoint.ts';
import { timestamp } from '../platform/fields.ts';

const publicKeys = z.object({
  algorithm: z.literal('Ed25519'),
  key_id: z.string(),
  public_key: z.base64().meta({ description: 'The 32 bytes of the key, base64' }),
  public_key_pem: z.string(),
  keys: z.array(
    z.object({ key_id: z.string(), public_key: z.base64(), status: z.enum(['active', 'retired']) }),
  ),
});

export const signingContract = {
  publicKey: endpoint({
    method: 'GET',
    path: '/public-key/',
    auth: 'public',
    summary: 'The public key that license files verify with; retired keys stay listed',
    request: z.object({}),
    reply: publicKeys,
    errors: [],
  }),
};

const signingKey = z.object({
  key_id: z.string(),
  status: z.enum(['active', 'retired']),
  created_at: timestamp,
  retired_at: timestamp.nullable(),
  public_key: z.base64(),
  public_key_pem: z.string(),
});

export const signingAdminContract = {
  listSigningKeys: endpoint({
    method: 'GET',
    path: '/signing-keys/',
    auth: 'admin',
    summary: 'List every signing key: the active one first, then the retired ones, newest first',
    request: z.object({}),
    reply: z.object({ signing_keys: z.array(signingKey) }),
    errors: [],
  }),
  rotateSigningKey: endpoint({
    method: 'POST',
    path: '/signing-keys/rotate/',
    auth: 'admin',
    summary: 'Make a new signing key; files signed with the old ones stay valid',
    request: z.object({}),
    reply: publicKeys,
    errors: [],
  }),
};

export type PublicKeys = z.input<typeof publicKeys>;
export type SigningKeyObject = z.input<typeof signingKey>;
