/** Control, format and line characters, and lone surrogates: they could forge a line in a log or on a page. */
const NOT_PLAIN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/**
 * Puts untrusted text on one line: replaces each run of such characters by a space and truncates to `most` UTF-16
 * units.
 */
export function plainText(text: string, most: number): string {
  const plain = text.replace(NOT_PLAIN, ' ').trim();
  if (plain.length <= most) return plain;
  return `${plain.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
