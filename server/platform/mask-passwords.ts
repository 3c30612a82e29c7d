// Keeps passwords in URLs from everything that is shown: logs, errors, settings, the audit log.

/** Stands for a password; no password may be this. */
export const MASK = '********';

/** Up to the last `@`, because people forget to escape what is in a password. */
const USER_INFO = /([a-z][a-z\d+.-]*:\/\/)([^\s:/?#@]*):\S*@/giu;
/** PostgreSQL takes passwords here as well. */
const PARAMETER = /([?&](?:ssl)?password=)[^&#\s"']*/giu;

/** The text with every password in a URL replaced. */
export function maskPasswords(text: string): string {
  return text.replaceAll(USER_INFO, `$1$2:${MASK}@`).replaceAll(PARAMETER, `$1${MASK}`);
}

/** The value of a setting that may hold a password, mistyped ones included: `postgres:desk:secret@host`. */
export function maskSecret(text: string): string {
  return text.includes('@') && !text.includes('://') ? MASK : maskPasswords(text);
}

export function holdsPassword(text: string): boolean {
  return maskPasswords(text) !== text;
}
