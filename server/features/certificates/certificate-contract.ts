// Client certificates of the service's own authority (contract, section 5).
import { z } from 'zod';
import { HAS_REFERENCE, licenseRef, reference } from '#server/features/licenses/license-contract.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { CERTIFICATE_STATES, REVOCATION_REASONS } from './certificate-state-contract.ts';
import { COMMON_NAME_MAX, EMAIL_MAX, ORGANIZATION_MAX } from './distinguished-name.ts';
import { days, id, pageOf, pageRequest, queryId, secretText, text, timestamp } from '#server/wire/fields.ts';

/** Of a certificate or a signing request; ours have 2 KiB. */
const PEM_MAX = 16_384;
const PRIVATE_KEY_MAX = 16_384;

const reason = z.enum(REVOCATION_REASONS);
const pem = z.string().meta({ description: 'PEM' });

const serialNumber = z.string().meta({ description: '32 lower-case hex digits' });
/** As OpenSSL, browsers and Windows show it: capitals, colons and blanks do not count. */
const givenSerialNumber = z
  .string()
  .max(200)
  .transform((given) =>
    given
      .replaceAll(/[\s:]/gu, '')
      .replace(/^(?:0x)?0*/iu, '')
      .toLowerCase(),
  )
  .refine((given) => /^[0-9a-f]{1,64}$/u.test(given), 'must be a serial number in hex');

const certificate = z
  .object({
    id,
    serial_number: serialNumber,
    license_id: id,
    common_name: z.string(),
    subject: z.string(),
    not_before: timestamp,
    not_after: timestamp,
    fingerprint_sha256: z.string().meta({ description: '64 lower-case hex digits' }),
    status: z.enum(CERTIFICATE_STATES),
    revoked_at: timestamp.nullable(),
    reason: reason.nullable(),
    pem,
  })
  .meta({ id: 'Certificate' });

const caCertificate = pem.meta({
  description:
    'PEM: the authority, and after it those of its certificates that it had before and that still hold',
});

export const certificateContract = {
  generateCertificate: endpoint({
    method: 'POST',
    path: '/certs/generate/',
    auth: 'bearer',
    idempotent: true,
    summary: 'Issue a client certificate, with a key of its own unless a signing request is given',
    request: z
      .object({
        ...reference,
        common_name: text(COMMON_NAME_MAX),
        organization: text(ORGANIZATION_MAX).optional(),
        email: z.email().max(EMAIL_MAX).optional(),
        validity_days: days.default(365),
        key_size: z.union([z.literal(2048), z.literal(3072), z.literal(4096)]).default(2048),
        csr: z
          .string()
          .max(PEM_MAX)
          .optional()
          .meta({ description: 'PKCS#10 in PEM; only its public key counts' }),
      })
      .refine(...HAS_REFERENCE),
    reply: z.object({
      certificate,
      ca_certificate: caCertificate,
      download_token: z.string().optional().meta({ description: 'Fetches the private key, once' }),
      download_url: z.string().optional(),
      download_expires_at: timestamp.optional(),
    }),
    errors: ['license_not_found', 'license_revoked'],
    errorStatus: { license_revoked: 409 },
  }),
  downloadKey: endpoint({
    method: 'GET',
    path: '/certs/download-key/',
    auth: 'public',
    refusesHead: true,
    summary: 'The private key of a new certificate: once, within 15 minutes',
    request: z.object({ token: secretText.optional() }),
    reply: z.object({ private_key: pem, certificate: pem, ca_certificate: caCertificate }),
    documents: { 'application/x-pem-file': 'Private key, certificate and authority in one file' },
    errors: ['download_token_invalid'],
  }),
  validateCertificate: endpoint({
    method: 'POST',
    path: '/certs/validate/',
    auth: 'public',
    summary: 'Whether a certificate is one of ours, and good',
    request: z
      .object({
        certificate: z.string().max(PEM_MAX).optional(),
        serial_number: givenSerialNumber.optional(),
      })
      .refine((request) => (request.certificate === undefined) !== (request.serial_number === undefined), {
        message: 'give certificate or serial_number',
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
    summary: 'The revocation list (RFC 5280), signed and stored; `?format=der` or `?format=pem` for files',
    request: z.object({ format: z.enum(['json', 'der', 'pem']).optional() }),
    reply: z.object({
      crl: pem,
      crl_number: z.int(),
      built_at: timestamp.meta({
        description: 'When the list was made; `this_update` is earlier, for clocks that lag',
      }),
      this_update: timestamp,
      next_update: timestamp,
      revoked: z.array(z.object({ serial_number: serialNumber, revoked_at: timestamp, reason })),
    }),
    documents: { 'application/pkix-crl': 'DER', 'application/x-pem-file': 'PEM' },
    errors: [],
  }),
  revokeCertificate: endpoint({
    method: 'POST',
    path: '/certs/revoke/',
    auth: 'bearer',
    summary: 'Revoke a certificate, for good; again changes nothing',
    request: z
      .object({
        serial_number: givenSerialNumber.optional(),
        id: id.optional(),
        reason: reason.default('unspecified'),
      })
      .refine((request) => request.serial_number !== undefined || request.id !== undefined, {
        message: 'serial_number or id is required',
        path: ['serial_number'],
      }),
    reply: z.object({
      certificate,
      listed: z.boolean().meta({ description: 'Whether the CRL has the entry; false if it is late' }),
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
    summary: 'The certificate authority; made now if this is its first use',
    request: z.object({}),
    reply: z.object({ authority }),
    errors: [],
  }),
  renewAuthority: endpoint({
    method: 'POST',
    path: '/certs/authority/renew/',
    auth: 'admin',
    summary: 'Give the authority a new certificate for the same key and name; what it issued stays good',
    request: z.object({}),
    reply: z.object({ authority }),
    errors: [],
  }),
  importAuthority: endpoint({
    method: 'POST',
    path: '/certs/authority/import/',
    auth: 'admin',
    summary:
      'Issue under an existing authority from now on; refused while certificates of the present one are in force',
    request: z.object({
      certificate: z.string().max(PEM_MAX).meta({ description: 'PEM; those that signed it may follow' }),
      private_key: z.string().max(PRIVATE_KEY_MAX).meta({ description: 'PEM, not encrypted' }),
    }),
    reply: z.object({ authority }),
    errors: ['authority_in_use'],
  }),
};

export type CertificateObject = z.input<typeof certificate>;
export type AuthorityObject = z.input<typeof authority>;
