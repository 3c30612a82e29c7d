// The Ed25519 keys that license files are signed with.
import { z } from 'zod';
import { endpoint } from '../platform/endpoint.ts';

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

export const signingAdminContract = {
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
