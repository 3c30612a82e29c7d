// What a file with a passphrase contains.

/**
 * The text without its final line break, and without a byte order mark, which some editors put before it.
 * @returns null if it is not UTF-8: someone who types the same passphrase would get a different key
 */
export function passphraseIn(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/u, '');
  } catch {
    return null;
  }
}

export const NOT_UTF8 = 'it is not UTF-8 text';
