// Encodes the revocation of a certificate for the CRL, in both of its forms.
import type { RevocationReason } from './certificate-state-contract.ts';
import { encodeRevokedEntry } from './crl-builder.ts';

interface Revocation {
  /** 32 lower-case hex digits. */
  serialNumber: string;
  /** Epoch milliseconds. */
  revokedAt: number;
  reason: RevocationReason;
}

export function encodeRevocation({ serialNumber, revokedAt, reason }: Revocation) {
  const serial = Buffer.from(serialNumber, 'hex');
  return {
    derHex: encodeRevokedEntry({ serial, revokedAt, reason }).toString('hex'),
    json: JSON.stringify({
      serial_number: serialNumber,
      revoked_at: new Date(revokedAt).toISOString(),
      reason,
    }),
  };
}
