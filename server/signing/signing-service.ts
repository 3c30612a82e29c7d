// The service's signing keys: one active, the retired ones listed so that what they signed still verifies.
import type { KeyObject } from 'node:crypto';
import { keyId } from '../../verifier/key-id.ts';
import type { Audit } from '../audit/audit-service.ts';
import { afterCommit, type RunTransaction } from '../database/transaction.ts';
import type { Call } from '../platform/call.ts';
import type { Clock } from '../platform/clock.ts';
import { toTimestamp, toTimestampOrNull } from '../platform/fields.ts';
import type { Sealer } from '../platform/sealer.ts';
import { generateEd25519, publicKeyPem, readPrivateKey, signEd25519 } from './ed25519.ts';
import type { PublicKeys, SigningKeyObject } from './signing-contract.ts';
import type { SigningKeyRow } from './signing-key-model.ts';
import type { SigningKeyStore } from './signing-key-store.ts';

const SEAL_PURPOSE = 'signing-key';

interface Needs {
  keys: SigningKeyStore;
  sealer: Sealer;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

interface LoadedKeys {
  active: { keyId: string; privateKey: KeyObject };
  trusted: { keyId: string; publicKey: Uint8Array }[];
  published: PublicKeys;
}

function toPublicKeys(rows: SigningKeyRow[], active: SigningKeyRow): PublicKeys {
  return {
    algorithm: 'Ed25519',
    key_id: active.keyId,
    public_key: active.publicKey,
    public_key_pem: publicKeyPem(Buffer.from(active.publicKey, 'base64')),
    keys: rows.map((row) => ({ key_id: row.keyId, public_key: row.publicKey, status: row.status })),
  };
}

function toSigningKeyObject(row: SigningKeyRow): SigningKeyObject {
  return {
    key_id: row.keyId,
    status: row.status,
    created_at: toTimestamp(row.createdAt),
    retired_at: toTimestampOrNull(row.retiredAt),
    public_key: row.publicKey,
    public_key_pem: publicKeyPem(Buffer.from(row.publicKey, 'base64')),
  };
}

/** @throws SealError if the master key is another one */
export function openSigningKey(sealer: Sealer, row: SigningKeyRow): KeyObject {
  return readPrivateKey(sealer.open(SEAL_PURPOSE, row.privateKeySealed));
}

export interface Signer {
  keyId(): string;
  sign(message: Uint8Array): Buffer;
  /** All keys whose files are still good, retired ones included. */
  trustedKeys(): { keyId: string; publicKey: Uint8Array }[];
}

/** Opens the keys; makes the first one on a fresh database. */
export async function createSigningService({ keys, sealer, audit, transaction, clock }: Needs) {
  async function insertKey(): Promise<string> {
    const { publicKey, privateKey } = generateEd25519();
    const id = keyId(publicKey);
    await keys.insert({
      keyId: id,
      publicKey: publicKey.toString('base64'),
      privateKeySealed: sealer.seal(SEAL_PURPOSE, privateKey),
      status: 'active',
      createdAt: clock.now(),
      retiredAt: null,
    });
    return id;
  }

  async function load(): Promise<LoadedKeys | null> {
    const rows = await keys.list();
    const active = rows.find((row) => row.status === 'active');
    if (!active) return null;
    return {
      active: { keyId: active.keyId, privateKey: openSigningKey(sealer, active) },
      trusted: rows.map((row) => ({ keyId: row.keyId, publicKey: Buffer.from(row.publicKey, 'base64') })),
      published: toPublicKeys(rows, active),
    };
  }

  async function loadOrCreate(): Promise<LoadedKeys> {
    const existing = await load();
    if (existing) return existing;
    return transaction(async () => {
      // Somebody else may have been first.
      if ((await load()) === null) await insertKey();
      const loaded = await load();
      if (!loaded) throw new Error('the signing key that was just made is not there');
      return loaded;
    });
  }

  let loaded = await loadOrCreate();

  const signer: Signer = {
    keyId: () => loaded.active.keyId,
    sign: (message) => signEd25519(loaded.active.privateKey, message),
    trustedKeys: () => loaded.trusted,
  };

  return {
    signer,
    publicKeys: (): PublicKeys => loaded.published,
    list: async () => ({ signing_keys: (await keys.list()).map(toSigningKeyObject) }),
    rotate: (call: Call): Promise<PublicKeys> =>
      transaction(async () => {
        const before = loaded.active.keyId;
        await keys.retireActive(clock.now());
        const after = await insertKey();
        await audit.record(
          call,
          'signing_key.rotated',
          `signing_key:${after}`,
          { key_id: before },
          { key_id: after },
        );
        const next = await load();
        if (!next) throw new Error('the signing key that was just made is not there');
        afterCommit(() => {
          loaded = next;
        });
        return next.published;
      }),
  };
}

export type SigningService = Awaited<ReturnType<typeof createSigningService>>;
