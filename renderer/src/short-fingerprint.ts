// A device fingerprint as people compare it: its first and last digits.
const PREFIX = 'sha256:';
const FIRST = 8;
const LAST = 4;

export function shortFingerprint(fingerprint: string): string {
  const digits = fingerprint.startsWith(PREFIX) ? fingerprint.slice(PREFIX.length) : fingerprint;
  return digits.length <= FIRST + LAST ? digits : `${digits.slice(0, FIRST)}…${digits.slice(-LAST)}`;
}
