// Opaque secrets of 32 random bytes. Only their SHA-256 hash and last four characters are stored.
import { hash, randomBytes } from 'node:crypto';

/**
 * `ldt_` for an authorization token, `ldk_` for an API token, `ldd_` for a download, `lds_` for a lease, `ldq_` for a
 * place in the queue of leases.
 */
export const SECRET_PREFIXES = ['ldt_', 'ldk_', 'ldd_', 'lds_', 'ldq_'] as const;
type SecretPrefix = (typeof SECRET_PREFIXES)[number];

export interface SecretToken {
  /** Shown once, never stored. */
  plaintext: string;
  /** Lower-case hex SHA-256 of the plaintext. */
  hash: string;
  /** Shown to identify the secret. */
  lastFour: string;
}

/** Lower-case hex SHA-256 of the UTF-8 bytes. */
export function hashSecret(plaintext: string): string {
  return hash('sha256', plaintext);
}

/** Whether the text has the form of such a secret. Other texts need no look-up. */
export function isSecretToken(prefix: SecretPrefix, text: string): boolean {
  return text.length === prefix.length + 43 && text.startsWith(prefix) && /^[\w-]+$/u.test(text);
}

export function createSecretToken(prefix: SecretPrefix): SecretToken {
  const plaintext = prefix + randomBytes(32).toString('base64url');
  return { plaintext, hash: hashSecret(plaintext), lastFour: plaintext.slice(-4) };
}
