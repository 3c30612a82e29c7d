// The PEM-like frame (RFC 7468) around license files, requests and public keys.

const LINE_LENGTH = 64;

/** `-----BEGIN LABEL-----`, the body in lines of 64 characters, `-----END LABEL-----`, each line with its newline. */
export function formatArmour(label: string, body: string): string {
  const lines = [`-----BEGIN ${label}-----`];
  for (let at = 0; at < body.length; at += LINE_LENGTH) lines.push(body.slice(at, at + LINE_LENGTH));
  lines.push(`-----END ${label}-----`, '');
  return lines.join('\n');
}

/**
 * The body of an armoured text with all line breaks, spaces and tabs removed: mail and editors rewrap, indent and
 * convert line ends. Null if anything other than whitespace surrounds the frame, or if there is no frame.
 */
export function parseArmour(label: string, text: string): string | null {
  const { begin, end } = frameOf(label);
  const framed = text.trim();
  if (!framed.startsWith(begin) || !framed.endsWith(end)) return null;
  return framed.slice(begin.length, -end.length).replace(/[ \t\r\n]+/g, '');
}

/**
 * Why `parseArmour` gives null for this text, as a clause that says what to fix. Null if neither line of the frame is in
 * the text.
 */
export function frameProblem(label: string, text: string): string | null {
  const { begin, end } = frameOf(label);
  const begins = text.includes(begin);
  const ends = text.includes(end);
  if (begins && ends) return `there is other text before or after the BEGIN and END ${label} lines`;
  if (begins || ends) return `it is incomplete: the ${begins ? 'END' : 'BEGIN'} ${label} line is missing`;
  return null;
}

function frameOf(label: string): { readonly begin: string; readonly end: string } {
  return { begin: `-----BEGIN ${label}-----`, end: `-----END ${label}-----` };
}
