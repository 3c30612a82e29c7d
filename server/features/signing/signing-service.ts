// The service's signing keys: one active, retired ones that still verify, and distrusted ones that no longer do.
import { keyId } from '../../../verifier/key-id.ts';
import type { VerificationKey } from '../../../verifier/public-key-format.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import { afterCommit } from '#server/database/current-transaction.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { issueDistrustList } from './distrust-list-issuer.ts';
import { generateEd25519 } from './ed25519.ts';
import {
  type LoadedKeys,
  loadKeys,
  SEAL_PURPOSE,
  type SigningKeyInUse,
  toSigningKeyObject,
} from './loaded-keys.ts';
import { type ReissueStore, toReissuePage } from './reissue-store.ts';
import type { PublicKeys, signingAdminContract } from './signing-contract.ts';
import type { SigningKeyRow } from './signing-key-model.ts';
import type { SigningKeyStore } from './signing-key-store.ts';

interface Needs {
  keys: SigningKeyStore;
  reissue: ReissueStore;
  sealer: Sealer;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  /** Whether other servers may change the keys, so that each use must check for changes. */
  isShared: boolean;
}

export interface Signer {
  activeKey(): Promise<SigningKeyInUse>;
  /** All keys, including retired ones. Distrusted ones are marked. */
  verificationKeys(): Promise<readonly VerificationKey[]>;
}

type DistrustRequest = RequestOf<typeof signingAdminContract.distrustSigningKey>;
type DistrustReply = ReplyOf<typeof signingAdminContract.distrustSigningKey>;
type ReissueRequest = RequestOf<typeof signingAdminContract.listFilesToReissue>;

/** Opens the keys. Creates the first one in a new database. */
export async function createSigningService(needs: Needs) {
  const { keys, reissue, sealer, audit, transaction, clock, isShared } = needs;

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
      distrustedAt: null,
      distrustReason: null,
    });
    return id;
  }

  async function load(): Promise<LoadedKeys | null> {
    // Read first, so that a concurrent change is noticed at the next use.
    const version = await keys.version();
    const list = await keys.newestList();
    return loadKeys({ rows: await keys.list(), distrustList: list?.document ?? null, version }, sealer);
  }

  async function mustLoad(): Promise<LoadedKeys> {
    const found = await load();
    if (!found) throw new Error('no active signing key found');
    return found;
  }

  async function loadOrCreate(): Promise<LoadedKeys> {
    const existing = await load();
    if (existing) return existing;
    return transaction(async () => {
      // Another server may have created it first.
      if ((await load()) === null) await insertKey();
      return mustLoad();
    });
  }

  let loaded = await loadOrCreate();

  async function current(): Promise<LoadedKeys> {
    if (isShared && (await keys.version()) !== loaded.version) loaded = await mustLoad();
    return loaded;
  }

  /** Loads the changed keys once they are committed. */
  async function adopt(): Promise<LoadedKeys> {
    const next = await mustLoad();
    afterCommit(() => {
      loaded = next;
    });
    return next;
  }

  /** Alone, because changes that share the commit would still sign with the key from before. */
  const changeKeys = <Result>(work: () => Promise<Result>): Promise<Result> =>
    transaction(work, undefined, { alone: true });

  async function replaceActive(call: Call, before: string | undefined): Promise<void> {
    await keys.retireActive(clock.now());
    const after = await insertKey();
    const subject = `signing_key:${after}`;
    await audit.record(call, 'signing_key.rotated', subject, { key_id: before }, { key_id: after });
  }

  /** Signs the list again with the active key, unless it is empty. @param least a lower bound of the last sequence number */
  async function publishDistrustList(least = 0): Promise<void> {
    const distrusted = (await keys.list()).flatMap(({ keyId: id, distrustedAt }) =>
      distrustedAt === null ? [] : [{ keyId: id, distrustedAt }],
    );
    if (distrusted.length === 0) return;
    const { active } = await mustLoad();
    const lastSequence = Math.max((await keys.newestList())?.sequence ?? 0, least);
    const { keyId: signedWith, sign } = active;
    const list = issueDistrustList({
      distrusted,
      lastSequence,
      issuedAt: clock.now(),
      keyId: signedWith,
      sign,
    });
    await keys.insertList(list);
  }

  async function mustFind(wanted: string): Promise<SigningKeyRow> {
    const row = (await keys.list()).find(({ keyId: id }) => id === wanted);
    if (!row) throw new ApiError('not_found', `signing key ${wanted} not found`);
    return row;
  }

  const signer: Signer = {
    activeKey: async () => (await current()).active,
    verificationKeys: async () => (await current()).verification,
  };

  return {
    signer,
    publicKeys: async (): Promise<PublicKeys> => (await current()).published,
    list: async () => ({ signing_keys: (await keys.list()).map(toSigningKeyObject) }),

    rotate: (call: Call): Promise<PublicKeys> =>
      changeKeys(async () => {
        await keys.lock();
        const active = (await keys.list()).find(({ status }) => status === 'active');
        await replaceActive(call, active?.keyId);
        await publishDistrustList();
        return (await adopt()).published;
      }),

    /** After a restore: verifiers refuse a list with a lower number than the last one they have seen. */
    republish: (lastSequence: number): Promise<void> =>
      transaction(async () => {
        await publishDistrustList(lastSequence);
        await adopt();
      }),

    /** Permanent. An active key is replaced first, because the list must not be signed with a key that is on it. */
    distrust: ({ key_id, reason }: DistrustRequest, call: Call): Promise<DistrustReply> =>
      changeKeys(async () => {
        await keys.lock();
        const row = await mustFind(key_id);
        if (row.distrustedAt === null) {
          if (row.status === 'active') await replaceActive(call, row.keyId);
          await keys.distrust(row.id, clock.now(), reason ?? null);
          await publishDistrustList();
          const after = toSigningKeyObject(await mustFind(key_id));
          await audit.record(
            call,
            'signing_key.distrusted',
            `signing_key:${key_id}`,
            toSigningKeyObject(row),
            after,
          );
        }
        const { published } = await adopt();
        const key = await mustFind(key_id);
        return {
          ...published,
          distrusted: toSigningKeyObject(key),
          files_to_reissue: await reissue.count(key, clock.now()),
        };
      }),

    /** Known license files signed by the key. */
    async filesToReissue({ key_id, cursor, limit }: ReissueRequest) {
      const key = await mustFind(key_id);
      const now = clock.now();
      const total = await reissue.count(key, now);
      return { ...toReissuePage(await reissue.list(key, { cursor, limit, now }), limit), total };
    },
  };
}

export type SigningService = Awaited<ReturnType<typeof createSigningService>>;
