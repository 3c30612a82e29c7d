// Describes how long a certificate is valid, for administrators.
import type { X509Certificate } from 'node:crypto';
import { DAY_MS } from '#server/wire/instants.ts';

/** Warn with fewer days left. */
const WARNING_DAYS = 7;

interface CertificateLife {
  state: 'good' | 'ending' | 'ended' | 'not_yet_valid';
  /** Whole days until it expires; negative afterwards. */
  daysLeft: number;
  /** `expires in 61 days, on 2026-09-01T12:00:00.000Z` */
  text: string;
}

/** @param now epoch milliseconds */
export function certificateLife({ validFrom, validTo }: X509Certificate, now: number): CertificateLife {
  const [start, end] = [Date.parse(validFrom), Date.parse(validTo)];
  const daysLeft = Math.floor((end - now) / DAY_MS);
  const on = (ms: number) => `on ${new Date(ms).toISOString()}`;
  if (now > end) return { state: 'ended', daysLeft, text: `expired ${on(end)}` };
  if (now < start) return { state: 'not_yet_valid', daysLeft, text: `is not valid yet, but ${on(start)}` };
  const text = `expires in ${daysLeft} ${daysLeft === 1 ? 'day' : 'days'}, ${on(end)}`;
  return { state: daysLeft < WARNING_DAYS ? 'ending' : 'good', daysLeft, text };
}

/** The holder in one line. */
export function certificateHolder({ subject, subjectAltName }: X509Certificate): string {
  // Current authorities leave the subject empty and use the alternative names.
  const named = (subject as string | undefined) || subjectAltName || 'a certificate without a name';
  return named.replaceAll('\n', ', ');
}

/** For `license-desk doctor`. @param now epoch milliseconds */
export function judgeCertificate(certificate: X509Certificate, now: number): { ok: boolean; detail: string } {
  const { state, text } = certificateLife(certificate, now);
  const detail = `${state === 'ending' ? 'warning: ' : ''}${certificateHolder(certificate)} ${text}`;
  return { ok: state === 'good' || state === 'ending', detail };
}
