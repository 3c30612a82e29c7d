// What authorities allow the certificates below them to be used for.
import type { X509Certificate } from 'node:crypto';

const PURPOSES = { clientAuth: '1.3.6.1.5.5.7.3.2', serverAuth: '1.3.6.1.5.5.7.3.1' } as const;

/**
 * OpenSSL accepts a certificate for a purpose only if every authority above it that has an extended key usage names this
 * purpose. `anyExtendedKeyUsage` is not enough.
 * @param authorities of one chain
 * @returns the first that does not allow the purpose
 */
export const authorityWithout = (
  purpose: keyof typeof PURPOSES,
  authorities: readonly X509Certificate[],
): X509Certificate | undefined =>
  // Node calls the extended key usage so. Without it, an authority allows everything.
  authorities.find(({ keyUsage: purposes }) => purposes && !purposes.includes(PURPOSES[purpose]));
