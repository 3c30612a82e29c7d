/** Control, format and line characters, and half surrogates: they could forge a line in a log or on a page. */
const NOT_PLAIN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** Text from outside on one line, each run of such characters a space, at most `most` UTF-16 units long. */
export function plainText(text: string, most: number): string {
  const plain = text.replace(NOT_PLAIN, ' ').trim();
  if (plain.length <= most) return plain;
  return `${plain.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
