// Masks passwords in URLs wherever they are shown: logs, errors, settings, the audit log.

/** Replaces a password. An actual password cannot have this value. */
export const MASK = '********';

/** Up to the last `@`, because people forget to escape passwords. */
const USER_INFO = /([a-z][a-z\d+.-]*:\/\/)([^\s:/?#@]*):\S*@/giu;
/** PostgreSQL also accepts passwords in these parameters. */
const PARAMETER = /([?&](?:ssl)?password=)[^&#\s"']*/giu;

/** Masks every password in URLs within the text. */
export function maskPasswords(text: string): string {
  return text.replaceAll(USER_INFO, `$1$2:${MASK}@`).replaceAll(PARAMETER, `$1${MASK}`);
}

/** Masks a setting that may contain a password, even if it is malformed: `postgres:desk:secret@host`. */
export function maskSecret(text: string): string {
  return text.includes('@') && !text.includes('://') ? MASK : maskPasswords(text);
}

export function holdsPassword(text: string): boolean {
  return maskPasswords(text) !== text;
}
