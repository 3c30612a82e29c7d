// The states of a certificate, as the page shows them, and the name of its file.
import {
  CERTIFICATE_STATES,
  type CertificateState,
} from '#server/features/certificates/certificate-state-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export const STATUS_TONES: Record<CertificateState, Tone> = {
  good: 'ok',
  revoked: 'bad',
  expired: 'idle',
  not_yet_valid: 'warn',
};

/** A status from an address, where anything may stand. */
export function toCertificateStatus(text: string): CertificateState | undefined {
  return CERTIFICATE_STATES.find((status) => status === text);
}

/** `workstation-7.pem`, whatever its common name is made of. */
export function pemFileName(commonName: string): string {
  const plain = commonName.replaceAll(/[^\p{L}\p{N}.-]+/gu, '-').replaceAll(/^[-.]+|[-.]+$/gu, '');
  return `${plain.slice(0, 80) || 'certificate'}.pem`;
}

/** Pairs of digits, as other programs show it: `AB:CD:…`. */
export function inPairs(hex: string): string {
  return (hex.toUpperCase().match(/.{1,2}/gu) ?? []).join(':');
}
