// Builds the signed list of distrusted keys. Pure; the caller owns the key.
import {
  distrustListBytes,
  type DistrustListPayload,
  formatDistrustList,
} from '../../../verifier/distrust-list.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { DistrustListRow } from './signing-key-store.ts';

interface DistrustListOrder {
  readonly distrusted: readonly { readonly keyId: string; readonly distrustedAt: number }[];
  /** Sequence number of the newest list; 0 if there is none. */
  readonly lastSequence: number;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
  readonly keyId: string;
  /** Ed25519 with the private key that `keyId` names. */
  readonly sign: (bytes: Uint8Array) => Uint8Array;
}

/**
 * The sequence number is the last one plus one, or the time in seconds if that is greater, so it keeps growing after a
 * restore of an older backup.
 */
export function issueDistrustList(order: DistrustListOrder): DistrustListRow {
  const { distrusted, lastSequence, issuedAt, keyId, sign } = order;
  const sequence = Math.max(lastSequence + 1, Math.floor(issuedAt / 1000));
  const payload: DistrustListPayload = {
    meta: { issued: toTimestamp(issuedAt), sequence },
    distrusted: distrusted.map((key) => ({
      key_id: key.keyId,
      distrusted_at: toTimestamp(key.distrustedAt),
    })),
  };
  const enc = Buffer.from(JSON.stringify(payload), 'utf8').toString('base64');
  const signature = sign(distrustListBytes(enc));
  return { sequence, issuedAt, document: formatDistrustList({ enc, signature, kid: keyId }) };
}
