// Signing keys in memory: opened, and ready to be published.
import type { KeyObject } from 'node:crypto';
import type { VerificationKey } from '../../../verifier/public-key-format.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { publicKeyPem, readPrivateKey, signEd25519 } from './ed25519.ts';
import type { PublicKeys, SigningKeyObject } from './signing-contract.ts';
import type { SigningKeyRow } from './signing-key-model.ts';

export const SEAL_PURPOSE = 'signing-key';

/** The active key. */
export interface SigningKeyInUse {
  /** The row's ID. */
  readonly id: number;
  readonly keyId: string;
  /** @returns the 64-byte signature */
  sign(message: Uint8Array): Buffer;
}

export interface LoadedKeys {
  readonly active: SigningKeyInUse;
  /** All keys, including retired ones. Distrusted ones are marked. */
  readonly verification: readonly VerificationKey[];
  readonly published: PublicKeys;
  /** The result of `SigningKeyStore.version()` when they were read. */
  readonly version: string;
}

/** @throws SealError if they were sealed with a different master key */
export function openSigningKey(sealer: Sealer, row: SigningKeyRow): KeyObject {
  return readPrivateKey(sealer.open(SEAL_PURPOSE, row.privateKeySealed));
}

function statusOf({ status, distrustedAt }: SigningKeyRow): SigningKeyObject['status'] {
  return distrustedAt === null ? status : 'distrusted';
}

export function toSigningKeyObject(row: SigningKeyRow): SigningKeyObject {
  return {
    key_id: row.keyId,
    status: statusOf(row),
    created_at: toTimestamp(row.createdAt),
    retired_at: toTimestampOrNull(row.retiredAt),
    distrusted_at: toTimestampOrNull(row.distrustedAt),
    distrust_reason: row.distrustReason,
    public_key: row.publicKey,
    public_key_pem: publicKeyPem(Buffer.from(row.publicKey, 'base64')),
  };
}

interface StoredKeys {
  rows: readonly SigningKeyRow[];
  /** The newest list in its text form. */
  distrustList: string | null;
  version: string;
}

/** @returns null without an active key */
export function loadKeys({ rows, distrustList, version }: StoredKeys, sealer: Sealer): LoadedKeys | null {
  const active = rows.find((row) => row.status === 'active');
  if (!active) return null;
  const privateKey = openSigningKey(sealer, active);
  return {
    active: {
      id: active.id,
      keyId: active.keyId,
      sign: (message) => signEd25519(privateKey, message),
    },
    verification: rows.map((row) => ({
      keyId: row.keyId,
      publicKey: Buffer.from(row.publicKey, 'base64'),
      distrusted: row.distrustedAt !== null,
    })),
    published: {
      algorithm: 'Ed25519',
      key_id: active.keyId,
      public_key: active.publicKey,
      public_key_pem: publicKeyPem(Buffer.from(active.publicKey, 'base64')),
      keys: rows.map((row) => ({ key_id: row.keyId, public_key: row.publicKey, status: statusOf(row) })),
      distrust_list: distrustList,
    },
    version,
  };
}
