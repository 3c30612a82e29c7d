// Parses search texts for licenses: part of a holder, email address, key or device fingerprint.
import { parseLicenseKey } from './license-key.ts';

/** The possible meanings of a search text. Each that is set may be the intended one. */
export interface LicenseSearch {
  /** Part of a holder or email address, case-folded. */
  text: string | null;
  /** A complete key. */
  key: string | null;
  /** Part of a key, without hyphens. */
  keyPart: string | null;
  /** Part of a fingerprint's digits. */
  fingerprintPart: string | null;
}

/** Fewer characters would occur in many keys by chance. */
const KEY_PART = /^[0-9A-HJKMNP-TV-Z]{5,25}$/u;
const FINGERPRINT_PART = /^(?:sha256:)?([0-9a-f]{6,64})$/u;

/**
 * Removes case and accents, so that `novacek` finds `Nováček`. The databases fold letters differently, SQLite only
 * ASCII.
 */
export function foldForSearch(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** A complete key has no other meaning; other texts can have several. */
export function parseSearch(search: string): LicenseSearch {
  const key = parseLicenseKey(search);
  if (key !== null) return { text: null, key, keyPart: null, fingerprintPart: null };
  const text = foldForSearch(search);
  const characters = text.replaceAll('-', '').toUpperCase();
  return {
    text,
    key: null,
    keyPart: KEY_PART.test(characters) ? characters : null,
    fingerprintPart: FINGERPRINT_PART.exec(text)?.[1] ?? null,
  };
}
