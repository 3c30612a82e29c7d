// A loaded authority: certificate, key, and the chain that relying parties need.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { toTimestamp } from '#server/wire/fields.ts';
import type { AuthorityRow } from './authority-model.ts';
import type { AuthorityObject } from './certificate-contract.ts';
import { oneLine } from './distinguished-name.ts';
import { type Issuer, readIssuer } from './issuer.ts';

export interface Authority {
  /** The row's ID. */
  id: number;
  origin: 'made' | 'imported';
  /** Lower-case hex; certificates refer to it. */
  keyIdentifier: string;
  certificate: X509Certificate;
  /** Epoch milliseconds. */
  notAfter: number;
  /** PEM: the certificate, earlier ones that are still valid, and the authorities above it. */
  pem: string;
  issuer: Issuer;
  keyType: AuthorityObject['key_type'];
}

/**
 * @param rows all authorities, to find earlier certificates of the same key
 * @param privateKeyDer PKCS#8
 */
export function toAuthority(
  row: AuthorityRow,
  rows: readonly AuthorityRow[],
  privateKeyDer: Buffer,
  now: number,
): Authority {
  const certificate = new X509Certificate(row.certificate);
  const earlier = rows.filter(
    (other) => other.id < row.id && other.keyIdentifier === row.keyIdentifier && other.notAfter > now,
  );
  const chain = new Set([row.certificate, ...earlier.map((other) => other.certificate), row.chain]);
  const { subject, keyIdentifier } = readIssuer(certificate.raw);
  const privateKey = createPrivateKey({ key: privateKeyDer, format: 'der', type: 'pkcs8' });
  return {
    id: row.id,
    origin: row.origin,
    keyIdentifier: row.keyIdentifier,
    certificate,
    notAfter: row.notAfter,
    pem: [...chain].join(''),
    issuer: {
      subject,
      keyIdentifier: keyIdentifier ?? Buffer.from(row.keyIdentifier, 'hex'),
      privateKey,
    },
    keyType: nameKeyType(privateKey),
  };
}

/** An imported authority may have another length. */
function nameKeyType({ asymmetricKeyDetails }: KeyObject): Authority['keyType'] {
  const { modulusLength } = asymmetricKeyDetails ?? {};
  return modulusLength === undefined ? 'p-256' : `rsa-${modulusLength}`;
}

export function toAuthorityObject({ certificate, pem, keyType }: Authority): AuthorityObject {
  return {
    subject: oneLine(certificate.subject),
    serial_number: certificate.serialNumber.toLowerCase(),
    not_before: toTimestamp(Date.parse(certificate.validFrom)),
    not_after: toTimestamp(Date.parse(certificate.validTo)),
    fingerprint_sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    key_type: keyType,
    ca_certificate: pem,
  };
}
