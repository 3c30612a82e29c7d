// Private keys that wait to be fetched: sealed under a token that only the caller has, once, for a quarter of an hour.
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

/** Only the token opens it: neither the database nor the master key helps. */
function sealerFor(token: string): Sealer {
  return createSealer(Buffer.from(hkdfSync('sha256', token, '', 'license-desk/certificate-key', KEY_BYTES)));
}

/** The same for a token that never was, was used, or is too old. */
function invalidToken(): ApiError {
  return new ApiError('download_token_invalid', 'this link is unknown, was used before, or is too old');
}

export function createCertificateKeyService(needs: Needs) {
  const { certificates, authority, audit, transaction, clock } = needs;

  async function take(token: string, call: Call) {
    const tokenHash = hashSecret(token);
    // So that strangers who guess do not keep the one writer busy.
    if (!(await certificates.hasKey(tokenHash))) throw invalidToken();
    return transaction(async () => {
      const taken = await certificates.takeKey(tokenHash, clock.now());
      if (!taken) throw invalidToken();
      const certificate = (await certificates.find({ id: taken.certificateId })) as Certificate;
      const { id, serialNumber } = certificate;
      const after = { serial_number: serialNumber };
      await audit.record(call, 'certificate.key_downloaded', `certificate:${id}`, null, after);
      return { certificate, privateKey: sealerFor(token).open(PURPOSE, taken.privateKeySealed) };
    });
  }

  return {
    /** Inside the transaction that issues the certificate. @param privateKeyDer PKCS#8 */
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

    /** The key is gone from here before its first byte is sent: what is lost on the way has to be issued anew. */
    async download({ token }: { token?: string | undefined }, call: Call) {
      if (token === undefined) throw invalidToken();
      const { certificate, privateKey } = await take(token, call);
      const parts = {
        private_key: toPem('PRIVATE KEY', privateKey),
        certificate: certificate.pem,
        ca_certificate: (await authority.current()).pem,
      };
      if (call.prefers(['application/json', PEM_FILE]) === 'application/json') return parts;
      return new Document(PEM_FILE, Object.values(parts).join(''));
    },
  };
}

export type CertificateKeys = ReturnType<typeof createCertificateKeyService>;
