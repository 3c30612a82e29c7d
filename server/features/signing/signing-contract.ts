// The Ed25519 keys that sign license files.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, pageOf, pageRequest, text, timestamp } from '#server/wire/fields.ts';

const status = z.enum(['active', 'retired', 'distrusted']);

const publicKeys = z.object({
  algorithm: z.literal('Ed25519'),
  key_id: z.string(),
  public_key: z.base64().meta({ description: 'The 32 bytes of the key in base64.' }),
  public_key_pem: z.string(),
  keys: z.array(z.object({ key_id: z.string(), public_key: z.base64(), status })),
  distrust_list: z
    .string()
    .nullable()
    .meta({ description: 'The signed list of distrusted keys. Null if no key is distrusted.' }),
});

export const signingContract = {
  publicKey: endpoint({
    method: 'GET',
    path: '/public-key/',
    auth: 'public',
    summary: 'Get the public key that verifies license files',
    request: z.object({}),
    reply: publicKeys,
    errors: [],
  }),
};

const signingKey = z.object({
  key_id: z.string(),
  status,
  created_at: timestamp,
  retired_at: timestamp.nullable(),
  distrusted_at: timestamp.nullable(),
  distrust_reason: z.string().nullable(),
  public_key: z.base64(),
  public_key_pem: z.string(),
});

const keyId = z
  .string()
  .regex(/^[0-9a-f]{16}$/u, 'must be 16 lowercase hex digits')
  .meta({ description: 'The key ID, as in `GET /public-key/`.' });

const fileToReissue = z.object({
  license_id: id,
  license_key: z.string(),
  holder: z.string(),
  product: z.string(),
  expires_at: timestamp,
  machine_fingerprint: z
    .string()
    .nullable()
    .meta({ description: 'Null for a license file that is not bound to a device.' }),
  machine_name: z.string().nullable(),
  since: timestamp.meta({
    description: 'When the device was activated, or the unbound file or the lease file was issued.',
  }),
  recorded: z.boolean().meta({
    description:
      'False if the activation is older than the record of signing keys; the key is then inferred from the time.',
  }),
  newer_file_at: timestamp.nullable().meta({
    description:
      'When a file under a later key was issued, before this key was distrusted. It may not have reached the device.',
  }),
  lease_id: id.nullable().meta({ description: 'The borrowed seat that a lease file is for.' }),
  user: z.string().nullable().meta({ description: 'The user of the lease.' }),
  host: z.string().nullable().meta({ description: 'The host of the lease.' }),
  borrowed_until: timestamp.nullable().meta({ description: 'When the lease file ends.' }),
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
    summary: 'Create a new signing key; files signed with earlier keys stay valid',
    request: z.object({}),
    reply: publicKeys,
    errors: [],
  }),
  distrustSigningKey: endpoint({
    method: 'POST',
    path: '/signing-keys/distrust/',
    auth: 'admin',
    summary:
      'Distrust a leaked signing key permanently: every license file that it signed is refused. An active key is replaced first',
    request: z.object({ key_id: keyId, reason: text(500).optional() }),
    reply: publicKeys.extend({
      distrusted: signingKey,
      files_to_reissue: z.int().meta({
        description:
          'License files that must be issued again: of devices, unbound ones, and lease files of borrowed seats.',
      }),
    }),
    errors: ['not_found'],
  }),
  listFilesToReissue: endpoint({
    method: 'GET',
    path: '/signing-keys/files/',
    auth: 'admin',
    summary: 'List the devices, licenses and borrowed seats with a license file that a signing key signed',
    request: z.object({ key_id: keyId, ...pageRequest }),
    reply: z.object({ ...pageOf(fileToReissue), total: z.int() }),
    errors: ['not_found'],
  }),
};

export type FileToReissue = z.input<typeof fileToReissue>;
export type PublicKeys = z.input<typeof publicKeys>;
export type SigningKeyObject = z.input<typeof signingKey>;
