// Private keys that wait for their single download: sealed under a token that only the caller has, for 15 minutes.
import { hkdfSync } from 'node:crypto';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { Document } from '#server/platform/document.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { createSealer, type Sealer } from '#server/platform/sealer.ts';
import { createSecretToken, hashSecret } from '#server/platform/secret-token.ts';
import type { AuthorityService } from './authority-service.ts';
import type { Certificate, CertificateStore } from './certificate-store.ts';
import { toPem } from './pem.ts';

const TTL_MS = 15 * 60_000;
const PEM_FILE = 'application/x-pem-file';
const PURPOSE = 'certificate-key';
const KEY_BYTES = 32;

interface Needs {
  certificates: CertificateStore;
  authority: Pick<AuthorityService, 'current'>;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  apiBaseUrl(): string;
}

/**
 * Derives the key from the token alone. Without an `Idempotency-Key`, neither the database nor the master key can open
 * it. With one, the stored reply contains the token, so both together can.
 */
function sealerFor(token: string): Sealer {
  return createSealer(Buffer.from(hkdfSync('sha256', token, '', 'license-desk/certificate-key', KEY_BYTES)));
}

/** The same error for a token that is unknown, used or expired. */
function invalidToken(): ApiError {
  return new ApiError('download_token_invalid', 'this link is unknown, was already used, or has expired');
}

export function createCertificateKeyService(needs: Needs) {
  const { certificates, authority, audit, transaction, clock } = needs;

  async function take(token: string, call: Call) {
    const tokenHash = hashSecret(token);
    // Checked first, so that guessing does not occupy the single writer.
    if (!(await certificates.hasKey(tokenHash))) throw invalidToken();
    const { pem: authorityPem } = await authority.current();
    const takeKey = async () => {
      const taken = await certificates.takeKey(tokenHash, clock.now());
      if (!taken) throw invalidToken();
      const certificate = (await certificates.find({ id: taken.certificateId })) as Certificate;
      const { id, serialNumber } = certificate;
      const after = { serial_number: serialNumber };
      await audit.record(call, 'certificate.key_downloaded', `certificate:${id}`, null, after);
      const privateKey = sealerFor(token).open(PURPOSE, taken.privateKeySealed);
      return { certificate, privateKey, authorityPem };
    };
    // The key of a client that has left meanwhile stays for its next attempt.
    return transaction(takeKey, call);
  }

  return {
    /** Call it inside the transaction that issues the certificate. @param privateKeyDer PKCS#8 */
    async keep({ id }: Certificate, privateKeyDer: Buffer) {
      const { plaintext, hash } = createSecretToken('ldd_');
      const expiresAt = clock.now() + TTL_MS;
      const privateKeySealed = sealerFor(plaintext).seal(PURPOSE, privateKeyDer);
      await certificates.insertKey({ certificateId: id, tokenHash: hash, privateKeySealed, expiresAt });
      return {
        download_token: plaintext,
        download_url: `${needs.apiBaseUrl()}/certs/download-key/?token=${plaintext}`,
        download_expires_at: toTimestamp(expiresAt),
      };
    },

    /** Deletes the key before sending it. If the download fails, a new certificate must be issued. */
    async download({ token }: { token?: string | undefined }, call: Call) {
      if (token === undefined) throw invalidToken();
      const { certificate, privateKey, authorityPem } = await take(token, call);
      const parts = {
        private_key: toPem('PRIVATE KEY', privateKey),
        certificate: certificate.pem,
        ca_certificate: authorityPem,
      };
      if (call.prefers(['application/json', PEM_FILE]) === 'application/json') return parts;
      return new Document(PEM_FILE, Object.values(parts).join(''));
    },
  };
}

export type CertificateKeys = ReturnType<typeof createCertificateKeyService>;
