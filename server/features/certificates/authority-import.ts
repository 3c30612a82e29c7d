// Validates an imported authority. Anything that would make its certificates unusable is rejected here.
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { refusedField } from '#server/wire/errors.ts';
import { type BrokenRule, fixedRule } from '#server/wire/field-rules.ts';
import { DerError } from './der.ts';
import { oneLine } from './distinguished-name.ts';
import { authorityWithout } from './extended-key-usage.ts';
import { isVersion1, keyIdentifier, maySign, pathLength, readIssuer } from './issuer.ts';
import { certificateKeyType, privateKeyType } from './key-type.ts';
import { authorityLimitingHolders } from './name-constraints.ts';
import { certificateBlocks, toPem } from './pem.ts';

export interface GivenAuthority {
  /** DER. */
  subject: Buffer;
  /** Lower-case hex. */
  keyIdentifier: string;
  /** PEM. */
  certificate: string;
  /** PEM of the authorities above it; empty for a root. */
  chain: string;
  /** Epoch milliseconds. */
  notAfter: number;
  /** PKCS#8. */
  privateKeyDer: Buffer;
}

const LEAST_BITS = 2048;
const MAX_CHAIN = 8;

function refuse(field: 'certificate' | 'private_key', rule: BrokenRule): never {
  throw refusedField(field, rule);
}

function readCertificates(text: string): X509Certificate[] {
  const blocks = certificateBlocks(text);
  if (blocks.length === 0 || blocks.length > MAX_CHAIN)
    return refuse('certificate', {
      message: `must contain 1 to ${MAX_CHAIN} certificates in PEM`,
      reason: 'certificate_count',
      values: { min: 1, max: MAX_CHAIN },
    });
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return refuse('certificate', { message: 'cannot be read', reason: 'unreadable_certificate' });
  }
}

const KEY_TYPES: ReadonlySet<string> = new Set(['RSA', 'EC P-256']);
const mustBe = (found: string) => `must be RSA of at least ${LEAST_BITS} bits or EC P-256 (got ${found})`;

const unsupportedKey = (type: string, whose = ''): BrokenRule => ({
  message: `${whose}${mustBe(type)}`,
  reason: 'unsupported_key',
  values: { key_type: type, min: LEAST_BITS },
});

function readKey(text: string): KeyObject {
  const type = privateKeyType(text);
  if (type !== null && !KEY_TYPES.has(type)) refuse('private_key', unsupportedKey(type));
  try {
    return createPrivateKey(text);
  } catch {
    return refuse('private_key', fixedRule('not_a_private_key'));
  }
}

/** @param name what the message begins with, and a space */
function checkValidity({ subject, validFrom, validTo }: X509Certificate, now: number, name: string): void {
  const values = (time: string) => ({
    certificate: oneLine(subject),
    time: new Date(time).toISOString(),
  });
  if (Date.parse(validFrom) > now)
    refuse('certificate', {
      message: `${name}is not valid yet`,
      reason: 'certificate_not_valid_yet',
      values: values(validFrom),
    });
  if (Date.parse(validTo) <= now)
    refuse('certificate', {
      message: `${name}expired on ${validTo}`,
      reason: 'certificate_expired',
      values: values(validTo),
    });
}

function checkAuthority(certificate: X509Certificate, key: KeyObject, now: number): void {
  const type = certificateKeyType(certificate.raw);
  if (!KEY_TYPES.has(type)) refuse('certificate', unsupportedKey(type, 'its key '));
  if (!certificate.checkPrivateKey(key)) refuse('private_key', fixedRule('not_key_of_certificate'));
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (type === 'RSA' && modulusLength < LEAST_BITS)
    refuse('private_key', {
      message: mustBe(`${modulusLength} bits`),
      reason: 'key_too_short',
      values: { min: LEAST_BITS, got: modulusLength },
    });
  if (!certificate.ca || !maySign(certificate.raw)) refuse('certificate', fixedRule('not_an_authority'));
  checkValidity(certificate, now, '');
}

/** Whether a key can be loaded depends on the crypto library: Node's loads more types than Electron's. */
function requireReadableKey(certificate: X509Certificate): void {
  try {
    void certificate.publicKey;
  } catch {
    const type = readDer(() => certificateKeyType(certificate.raw));
    refuse('certificate', {
      message: `a certificate in its chain has a key of an unsupported type (${type})`,
      reason: 'unsupported_key_in_chain',
      values: { certificate: oneLine(certificate.subject), key_type: type },
    });
  }
}

const isSelfIssued = ({ subject, issuer }: X509Certificate) => subject === issuer;

/** Relying parties check the whole chain. @param below the certificates below it */
function checkAbove(certificate: X509Certificate, below: readonly X509Certificate[], now: number): void {
  const subject = oneLine(certificate.subject);
  const name = `${subject} in its chain `;
  checkValidity(certificate, now, name);
  if (!certificate.ca && !(isVersion1(certificate.raw) && isSelfIssued(certificate)))
    refuse('certificate', {
      message: `${name}must be a CA certificate (CA:TRUE)`,
      reason: 'no_authority_in_chain',
      values: { certificate: subject },
    });
  const allowed = pathLength(certificate.raw);
  // RFC 5280, 4.2.1.9: a new certificate of the same authority does not count.
  const found = below.filter((one) => !isSelfIssued(one)).length;
  if (allowed !== null && found > allowed)
    refuse('certificate', {
      message: `${name}allows ${allowed} CA certificates below it (pathlen), not ${found}`,
      reason: 'chain_too_long',
      values: { certificate: subject, max: allowed, got: found },
    });
}

function checkChain(chain: X509Certificate[], now: number): void {
  let below = chain[0] as X509Certificate;
  for (const [index, certificate] of chain.entries()) {
    if (index === 0) continue;
    requireReadableKey(certificate);
    if (!below.checkIssued(certificate) || !below.verify(certificate.publicKey))
      refuse('certificate', fixedRule('chain_order'));
    readDer(() => checkAbove(certificate, chain.slice(0, index), now));
    below = certificate;
  }
  if (below.checkIssued(below) && !below.verify(below.publicKey))
    refuse('certificate', fixedRule('invalid_signature'));
}

/** Node's parser above accepts more than DER. */
function readDer<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return refuse('certificate', fixedRule('not_der'));
  }
}

/**
 * @param now epoch milliseconds
 * @throws ApiError `invalid_request` with the reason
 */
export function readGivenAuthority(
  given: { certificate: string; private_key: string },
  now: number,
): GivenAuthority {
  const certificates = readCertificates(given.certificate);
  const [certificate, ...above] = certificates as [X509Certificate, ...X509Certificate[]];
  const key = readKey(given.private_key);
  const { subject, keyIdentifier: named } = readDer(() => {
    checkAuthority(certificate, key, now);
    return readIssuer(certificate.raw);
  });
  checkChain(certificates, now);
  if (authorityWithout('clientAuth', certificates)) refuse('certificate', fixedRule('client_auth_required'));
  const limiting = readDer(() => authorityLimitingHolders(certificates));
  if (limiting)
    refuse('certificate', {
      message: `${oneLine(limiting.subject)} must not have name constraints for directory names or email addresses: many client certificates would not be valid`,
      reason: 'name_constraints',
      values: { certificate: oneLine(limiting.subject) },
    });
  const identifier = named ?? keyIdentifier(createPublicKey(key));
  return {
    subject,
    keyIdentifier: identifier.toString('hex'),
    certificate: toPem('CERTIFICATE', certificate.raw),
    chain: above.map(({ raw }) => toPem('CERTIFICATE', raw)).join(''),
    notAfter: Date.parse(certificate.validTo),
    privateKeyDer: key.export({ format: 'der', type: 'pkcs8' }),
  };
}
