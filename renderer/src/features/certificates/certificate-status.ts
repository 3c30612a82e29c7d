// Certificate states with their colors, and file names of certificates.
import {
  CERTIFICATE_STATES,
  type CertificateState,
} from '#server/features/certificates/certificate-state-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export const STATUS_TONES: Record<CertificateState, Tone> = {
  good: 'ok',
  revoked: 'revoked',
  expired: 'idle',
  not_yet_valid: 'warn',
};

/** A status from the URL, where any text is possible. */
export function toCertificateStatus(text: string): CertificateState | undefined {
  return CERTIFICATE_STATES.find((status) => status === text);
}

/** A safe file name from any common name: `workstation-7.pem`. */
export function pemFileName(commonName: string): string {
  const plain = commonName.replaceAll(/[^\p{L}\p{N}.-]+/gu, '-').replaceAll(/^[-.]+|[-.]+$/gu, '');
  return `${plain.slice(0, 80) || 'certificate'}.pem`;
}

/** Pairs of digits, as other programs show them: `AB:CD:…`. */
export function inPairs(hex: string): string {
  return (hex.toUpperCase().match(/.{1,2}/gu) ?? []).join(':');
}
