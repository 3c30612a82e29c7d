// Puts into a restored database what was made after the backup and is still accepted elsewhere. Otherwise a certificate
// that was revoked would be accepted again, and no other could ever be revoked.
import type { CertificateStore } from '#server/features/certificates/certificate-store.ts';
import type { encodeRevocation } from '#server/features/certificates/revocation-entry.ts';
import type { RevocationListStore } from '#server/features/certificates/revocation-list-store.ts';
import type { SigningKeyStore } from '#server/features/signing/signing-key-store.ts';
import { type NewerObjects, readCertificates } from './newer-objects-store.ts';

interface Needs {
  certificates: Pick<CertificateStore, 'insertAgain' | 'markRevoked'>;
  lists: Pick<RevocationListStore, 'insertEntry'>;
  signingKeys: Pick<SigningKeyStore, 'insert'>;
  encodeRevocation: typeof encodeRevocation;
  /** Epoch milliseconds. */
  now: number;
}

export interface KeptObjects {
  certificates_kept: number;
  certificates_revoked: number;
}

export function createKeepNewerObjects(needs: Needs) {
  const { certificates, lists, signingKeys, now } = needs;

  /** They sign nothing new: the active key is that of the backup. */
  async function keepSigningKeys(keys: NewerObjects['signingKeys']): Promise<void> {
    for (const key of keys)
      await signingKeys.insert({ ...key, status: 'retired', retiredAt: key.retiredAt ?? now });
  }

  async function keepCertificates(file: string, kept: NewerObjects['kept']): Promise<void> {
    const licenses = new Map(kept.map(({ id, licenseId }) => [id, licenseId]));
    for await (const { derHex, json, ...row } of readCertificates(file, [...licenses.keys()])) {
      const licenseId = licenses.get(row.id) as number;
      const {
        id: certificateId,
        authorityKey,
        notAfter,
      } = await certificates.insertAgain({ ...row, licenseId });
      if (derHex !== null && json !== null)
        await lists.insertEntry({ certificateId, authorityKey, notAfter, derHex, json });
    }
  }

  /** Without licenses, they can have no rows, and a later revocation would not find them. */
  async function revokeCertificates(file: string, revoked: NewerObjects['revoked']): Promise<void> {
    const ids = revoked.map(({ id }) => id);
    for await (const row of readCertificates(file, ids)) {
      const { authorityKey, notAfter, serialNumber, derHex, json } = row;
      const entry =
        derHex !== null && json !== null
          ? { derHex, json }
          : needs.encodeRevocation({ serialNumber, revokedAt: now, reason: 'cessation_of_operation' });
      await lists.insertEntry({ certificateId: null, authorityKey, notAfter, ...entry });
    }
  }

  async function keepRevocations(revoked: NewerObjects['revokedSince']): Promise<void> {
    for (const { revokedAt, revokeReason, ...entry } of revoked) {
      await certificates.markRevoked(entry.certificateId, revokedAt, revokeReason);
      await lists.insertEntry(entry);
    }
  }

  /** Requires a transaction. @param file the current database */
  return async (newer: NewerObjects, file: string): Promise<KeptObjects> => {
    await keepSigningKeys(newer.signingKeys);
    await keepCertificates(file, newer.kept);
    await revokeCertificates(file, newer.revoked);
    for (const entry of newer.orphanedEntries) await lists.insertEntry({ certificateId: null, ...entry });
    await keepRevocations(newer.revokedSince);
    return {
      certificates_kept: newer.kept.length,
      certificates_revoked: newer.revoked.length + newer.revokedSince.length,
    };
  };
}
