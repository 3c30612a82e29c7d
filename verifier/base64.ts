// Base64 with exactly one spelling per value: what decodes here re-encodes to the same text.

/** Standard base64 (RFC 4648 section 4) with padding, on one line. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/**
 * Decodes canonical base64 only (RFC 4648 section 3.5). Whitespace, missing padding and stray bits behind the last
 * byte give null: signed text that has a second spelling could be altered without anyone noticing.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return null;
  }
  if (btoa(binary) !== text) return null;
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Decodes canonical base64 of UTF-8 JSON; `undefined`, which JSON cannot say, when any layer of it is wrong. */
export function decodeBase64Json(text: string): unknown {
  const bytes = decodeBase64(text);
  return bytes === null ? undefined : decodeJson(bytes);
}

/** Decodes UTF-8 JSON; `undefined` when it is not. */
export function decodeJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}
