// Drafts a certificate: creates or reads its key and signs its content, without the database.
import { hash, type KeyObject } from 'node:crypto';
import type { RequestOf } from '#server/wire/endpoint.ts';
import type { Caller } from '#server/platform/call.ts';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { issueClientCertificate } from './certificate-builder.ts';
import type { certificateContract } from './certificate-contract.ts';
import type { Certificate } from './certificate-store.ts';
import { CLOCK_SKEW_MS, wholeSeconds } from './certificate-time.ts';
import { formatSubject } from './distinguished-name.ts';
import { type Issuer, newSerial, toSpki } from './issuer.ts';
import { generateRsaKey } from './key-pair.ts';
import { toPem } from './pem.ts';
import { readSigningRequest, SigningRequestError } from './signing-request.ts';

export type Order = RequestOf<typeof certificateContract.generateCertificate>;

export interface Subject {
  publicKey: KeyObject;
  /** PKCS#8; null if the caller keeps the key. */
  privateKeyDer: Buffer | null;
}

/** A certificate that is not yet assigned to a license. */
export type Draft = Omit<Certificate, 'id' | 'licenseId'>;

function refuseRequest(message: string): never {
  throw refusedField('csr', message);
}

function readRequest(csr: string): Subject {
  try {
    return { ...readSigningRequest(csr), privateKeyDer: null };
  } catch (error) {
    if (error instanceof SigningRequestError) return refuseRequest(error.message);
    throw error;
  }
}

/**
 * Creates a key, or reads the one in the signing request. @throws ApiError `overloaded` if too many calls wait for a
 * key
 */
export async function newSubject({ csr, key_size: keySize }: Order, caller: Caller): Promise<Subject> {
  return csr === undefined ? generateRsaKey(keySize, caller) : readRequest(csr);
}

/** Loaded on first use, to keep the start fast. */
let builder: { issueClientCertificate: typeof issueClientCertificate } | undefined;

interface DraftContext {
  issuer: Issuer;
  /** Lower-case hex. */
  authorityKey: string;
  /** Epoch milliseconds; no certificate outlives its authority. */
  endsAt: number;
  now: number;
  crlUrl: string;
}

/** @throws ApiError `unavailable` if the authority has expired, `invalid_request` if the key is the authority's key */
export async function draftCertificate(
  order: Order,
  publicKey: KeyObject,
  { issuer, authorityKey, endsAt, now, crlUrl }: DraftContext,
): Promise<Draft> {
  // Compares the key itself: the identifier of an imported one can be computed in any way.
  if (toSpki(issuer.privateKey).equals(toSpki(publicKey)))
    return refuseRequest("its key must not be the authority's key");
  const notAfter = Math.min(wholeSeconds(now + order.validity_days * DAY_MS), endsAt);
  if (notAfter <= now)
    throw new ApiError('unavailable', 'the certificate authority has expired; import its new certificate');
  const { common_name: commonName, organization, email } = order;
  const names = { commonName, organization, email };
  const serial = newSerial();
  const notBefore = wholeSeconds(now - CLOCK_SKEW_MS);
  builder ??= await import('./certificate-builder.ts');
  const der = await builder.issueClientCertificate({
    issuer,
    serial,
    names,
    notBefore,
    notAfter,
    publicKey,
    crlUrl,
  });
  return {
    authorityKey,
    serialNumber: serial.toString('hex'),
    commonName,
    subject: formatSubject(names),
    notBefore,
    notAfter,
    fingerprint: hash('sha256', der),
    createdAt: now,
    revokedAt: null,
    revokeReason: null,
    pem: toPem('CERTIFICATE', der),
  };
}
