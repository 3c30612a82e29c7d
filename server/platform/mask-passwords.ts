// Masks passwords in URLs wherever they are shown: logs, errors, settings, the audit log.

/** Replaces a password. An actual password cannot have this value. */
export const MASK = '********';

const HOST = String.raw`(?:\[[^\]/?#]*\]|[^:@,/?#[\]]*)(?::\d+)?`;
/** A user without a password, hosts with their ports, and a path. An `@` after it belongs to a parameter. */
const NO_PASSWORD = String.raw`[^:/?#]*@${HOST}(?:,${HOST})*(?:/[^@?#]*)?(?:[?#]|$)`;
/** Up to the password of a user, whose name may contain an `@`: `desk@server`. */
const BEFORE_PASSWORD = new RegExp(String.raw`^.*?://(?!${NO_PASSWORD})[^:/?#]*:`, 'su');
/** PostgreSQL also accepts passwords in these parameters. */
const PARAMETER = /(?<=[?&](?:ssl)?password=)[^&#]*/giu;
/** The same within other text, which may go on after the quote that ends the URL. */
const QUOTED_PARAMETER = /(?<=[?&](?:ssl)?password=)[^&#"]*/giu;

const SCHEME = 'postgres(?:ql)?://';
/** A database URL with the rest of its line, because its password may contain spaces; or a word. */
const PART = new RegExp(String.raw`${SCHEME}(?:(?!${SCHEME}).)*|(?:(?!${SCHEME})\S)+`, 'giu');

function maskUrl(url: string, parameter: RegExp): string {
  const begin = BEFORE_PASSWORD.exec(url)?.[0].length ?? Infinity;
  // The last `@`, because people forget to escape passwords. A password in a parameter may contain it.
  const at = url.lastIndexOf('@');
  const values = [...url.matchAll(parameter)].map(
    ({ index, 0: value }) => [index, index + value.length] as const,
  );
  const [, end] = values.find(([from, to]) => from <= at && at < to) ?? [at, at];
  const shown = begin <= at ? `${url.slice(0, begin)}${MASK}${url.slice(end)}` : url;
  return shown.replaceAll(parameter, MASK);
}

/** Masks every password in URLs within the text. */
export function maskPasswords(text: string): string {
  return text.replaceAll(PART, (part) => maskUrl(part, QUOTED_PARAMETER));
}

/** Masks a setting that may contain a password, even if it is malformed: `postgres:desk:secret@host`. */
export function maskSecret(url: string): string {
  return url.includes('@') && !url.includes('://') ? MASK : maskUrl(url, PARAMETER);
}

export function holdsPassword(text: string): boolean {
  return maskPasswords(text) !== text;
}
