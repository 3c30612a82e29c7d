// Validates certificates that administrators paste.
import { X509Certificate } from 'node:crypto';
import { refusedField } from '#server/wire/errors.ts';
import { fixedRule } from '#server/wire/field-rules.ts';

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/gu;

/** @throws ApiError `invalid_request` unless the text is one or more PEM certificates */
export function checkCertificates(text: string): void {
  const certificates = text.match(PEM) ?? [];
  try {
    for (const certificate of certificates) void new X509Certificate(certificate);
  } catch {
    throw refusedField('ca', fixedRule('unreadable_certificate'));
  }
  if (certificates.length === 0) throw refusedField('ca', fixedRule('not_certificates'));
}
