// Client certificates (contract, section 5).
import { z } from 'zod';
import { licenseRef, licenseRequest } from '#server/features/licenses/license-contract.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { AUTHORITY_KEY_TYPES, CERTIFICATE_STATES, REVOCATION_REASONS } from './certificate-state-contract.ts';
import { COMMON_NAME_MAX, EMAIL_MAX, ORGANIZATION_MAX } from './distinguished-name.ts';
import { onlyOne, refusal, sentenceOf } from '#server/wire/field-rules.ts';
import {
  days,
  id,
  needsOneOf,
  pageOf,
  pageRequest,
  queryId,
  secretText,
  text,
  timestamp,
} from '#server/wire/fields.ts';

/** Limit for a certificate or signing request; typical ones have 2 KiB. */
const PEM_MAX = 16_384;
const PRIVATE_KEY_MAX = 16_384;

const reason = z.enum(REVOCATION_REASONS);
const pem = z.string().meta({ description: 'PEM.' });

const serialNumber = z.string().meta({ description: '32 lowercase hex digits.' });
/** As shown by OpenSSL, browsers and Windows: case, colons and spaces do not matter. */
const givenSerialNumber = z
  .string()
  .max(200)
  .transform((given) =>
    given
      .replaceAll(/[\s:]/gu, '')
      .replace(/^(?:0x)?0*/iu, '')
      .toLowerCase(),
  )
  .refine((given) => /^[0-9a-f]{1,64}$/u.test(given), sentenceOf('not_a_serial_number'));

const certificate = z
  .object({
    id,
    serial_number: serialNumber,
    license_id: id,
    common_name: z.string(),
    subject: z.string(),
    not_before: timestamp,
    not_after: timestamp,
    fingerprint_sha256: z.string().meta({ description: 'SHA-256 of the DER form: 64 lowercase hex digits.' }),
    status: z.enum(CERTIFICATE_STATES),
    revoked_at: timestamp.nullable(),
    reason: reason.nullable(),
    pem,
  })
  .meta({ id: 'Certificate' });

const caCertificate = pem.meta({
  description: 'PEM: the certificate of the CA, followed by its earlier certificates that are still valid.',
});

export const certificateContract = {
  generateCertificate: endpoint({
    method: 'POST',
    path: '/certs/generate/',
    auth: 'bearer',
    idempotent: true,
    summary: 'Issue a client certificate',
    request: licenseRequest({
      common_name: text(COMMON_NAME_MAX),
      organization: text(ORGANIZATION_MAX).optional(),
      email: z.email().max(EMAIL_MAX).optional(),
      validity_days: days.default(365),
      key_size: z.literal([2048, 3072, 4096]).default(2048),
      csr: z
        .string()
        .max(PEM_MAX)
        .optional()
        .meta({ description: 'Signing request (PKCS#10, PEM). Only its public key is used.' }),
    }),
    reply: z.object({
      certificate,
      ca_certificate: caCertificate,
      download_token: z.string().optional().meta({ description: 'Downloads the private key once.' }),
      download_url: z.string().optional(),
      download_expires_at: timestamp.optional(),
    }),
    errors: ['license_not_found', 'license_revoked', 'license_expired'],
    errorStatus: { license_revoked: 409, license_expired: 409 },
  }),
  downloadKey: endpoint({
    method: 'GET',
    path: '/certs/download-key/',
    auth: 'public',
    refusesHead: true,
    summary: 'Download the private key of a new certificate',
    request: z.object({ token: secretText.optional().meta({ description: 'The `download_token`.' }) }),
    reply: z.object({ private_key: pem, certificate: pem, ca_certificate: caCertificate }),
    documents: { 'application/x-pem-file': 'Private key, certificate and CA certificate in one PEM file.' },
    errors: ['download_token_invalid'],
  }),
  validateCertificate: endpoint({
    method: 'POST',
    path: '/certs/validate/',
    auth: 'public',
    summary: 'Check whether a certificate is valid',
    request: needsOneOf(
      z.object({
        certificate: z.string().max(PEM_MAX).optional().meta({ description: 'PEM.' }),
        serial_number: givenSerialNumber.optional(),
      }),
      'certificate',
      'serial_number',
    ).refine((request) => request.certificate === undefined || request.serial_number === undefined, {
      ...refusal(onlyOne('certificate', 'serial_number')),
      path: ['certificate'],
    }),
    reply: z.object({
      valid: z.boolean(),
      status: z.enum([...CERTIFICATE_STATES, 'unknown_issuer', 'unknown']),
      serial_number: serialNumber,
      subject: z.string().nullable(),
      not_after: timestamp.nullable(),
      revoked_at: timestamp.nullable(),
      reason: reason.nullable(),
    }),
    errors: [],
  }),
  revocationList: endpoint({
    method: 'GET',
    path: '/certs/crl/',
    auth: 'public',
    etag: true,
    summary: 'Get the certificate revocation list (CRL)',
    request: z.object({
      format: z.enum(['json', 'der', 'pem']).optional().meta({
        description: 'The form of the reply. Default: what `Accept` asks for, or JSON.',
      }),
    }),
    reply: z.object({
      crl: pem,
      crl_number: z.int(),
      built_at: timestamp.meta({
        description:
          'When the CRL was built. `this_update` is earlier, so that clocks that are behind accept it.',
      }),
      this_update: timestamp,
      next_update: timestamp,
      revoked: z.array(z.object({ serial_number: serialNumber, revoked_at: timestamp, reason })),
    }),
    documents: {
      'application/pkix-crl': 'The CRL in DER form.',
      'application/x-pem-file': 'The CRL in PEM form.',
    },
    errors: [],
  }),
  revokeCertificate: endpoint({
    method: 'POST',
    path: '/certs/revoke/',
    auth: 'bearer',
    summary: 'Revoke a certificate permanently',
    request: needsOneOf(
      z.object({
        serial_number: givenSerialNumber.optional(),
        id: id.optional(),
        reason: reason.default('unspecified'),
      }),
      'serial_number',
      'id',
    ),
    reply: z.object({
      certificate,
      listed: z.boolean().meta({
        description:
          'Whether the CRL of every ready server contains the entry. False if the CRL could not be rebuilt in time, or if there are `late_servers`.',
      }),
      late_servers: z.array(z.string()).meta({
        description:
          'With several servers on one database: those that do not serve this CRL yet, after a wait of up to two seconds.',
      }),
    }),
    errors: ['certificate_not_found'],
  }),
};

const authority = z.object({
  subject: z.string(),
  serial_number: z.string(),
  not_before: timestamp,
  not_after: timestamp,
  fingerprint_sha256: z.string(),
  key_type: z.templateLiteral(['rsa-', z.int()]).or(z.literal('p-256')).meta({
    description: '`rsa-3072` or `p-256`; an imported authority may have RSA of another length.',
  }),
  ca_certificate: caCertificate,
});

export const certificateAdminContract = {
  listCertificates: endpoint({
    method: 'GET',
    path: '/certs/',
    auth: 'admin',
    summary: 'List client certificates, newest first',
    request: z.object({
      ...pageRequest,
      license: licenseRef.optional(),
      status: z.enum(CERTIFICATE_STATES).optional(),
    }),
    reply: z.object(pageOf(certificate)),
    errors: ['license_not_found'],
  }),
  showCertificate: endpoint({
    method: 'GET',
    path: '/certs/show/',
    auth: 'admin',
    summary: 'Show a client certificate',
    request: z.object({ id: queryId }),
    reply: z.object({ certificate }),
    errors: ['certificate_not_found'],
  }),
  showAuthority: endpoint({
    method: 'GET',
    path: '/certs/authority/',
    auth: 'admin',
    summary: 'Show the certificate authority (CA), which is created at first use',
    request: z.object({}),
    reply: z.object({ authority }),
    errors: [],
  }),
  renewAuthority: endpoint({
    method: 'POST',
    path: '/certs/authority/renew/',
    auth: 'admin',
    summary: 'Renew the CA certificate with the same key and name; issued certificates stay valid',
    request: z.object({
      key_type: z.enum(AUTHORITY_KEY_TYPES).optional().meta({
        description:
          'If the CA has another type of key, or was imported, a new CA with a new key replaces it. This is refused while certificates of the current CA are valid.',
      }),
    }),
    reply: z.object({ authority }),
    errors: ['authority_in_use'],
  }),
  importAuthority: endpoint({
    method: 'POST',
    path: '/certs/authority/import/',
    auth: 'admin',
    summary: 'Import a CA to issue certificates with; refused while certificates of the current CA are valid',
    request: z.object({
      certificate: z
        .string()
        .max(PEM_MAX)
        .meta({ description: 'PEM, optionally followed by the certificates that signed it.' }),
      private_key: z.string().max(PRIVATE_KEY_MAX).meta({ description: 'PEM, not encrypted.' }),
    }),
    reply: z.object({ authority }),
    errors: ['authority_in_use'],
  }),
};

export type CertificateObject = z.input<typeof certificate>;
export type AuthorityObject = z.input<typeof authority>;
