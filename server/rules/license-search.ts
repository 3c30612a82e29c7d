// What people type to find a license: a part of its holder, e-mail address or key, or of a device's fingerprint.
import { parseLicenseKey } from './license-key.ts';

/** What is looked for; each part that is there may be what was meant. */
export interface LicenseSearch {
  /** A part of holder or e-mail address, folded. */
  text: string | null;
  /** A whole key. */
  key: string | null;
  /** A part of a key, without hyphens. */
  keyPart: string | null;
  /** A part of a fingerprint's digits. */
  fingerprintPart: string | null;
}

/** Fewer characters would be in many a key by chance. */
const KEY_PART = /^[0-9A-HJKMNP-TV-Z]{5,25}$/u;
const FINGERPRINT_PART = /^(?:sha256:)?([0-9a-f]{6,64})$/u;

/**
 * Without case and accents, so that `novacek` finds `Nováček`, on both databases alike: they fold letters each in their
 * own way, SQLite only those of ASCII.
 */
export function foldForSearch(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** A whole key is nothing but that; anything else may be a part of several things. */
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
