// Limits of a backup's passphrase, in characters.

/** A shorter passphrase is refused, because it is the only protection of a copied file. */
export const MIN_PASSPHRASE = 12;
export const MAX_PASSPHRASE = 1000;
