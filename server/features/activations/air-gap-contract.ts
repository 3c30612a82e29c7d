// Offline devices: their activation requests and license files are examined before anything is changed.
import { z } from 'zod';
import { licenseObject, licenseRef } from '#server/features/licenses/license-contract.ts';
import { RULE_OUTCOMES, VALIDATION_REASONS } from '#server/rules/license-verdict.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { fingerprint, moment, slug, timestamp } from '#server/wire/fields.ts';
import {
  activation,
  ACTIVATION_ERRORS,
  activationAdminContract,
  activationContract,
  ruleInputs,
} from './activation-contract.ts';

/** The codes that `activateOffline` would fail with. */
export const ACTIVATION_OBSTACLES = ['invalid_request', ...ACTIVATION_ERRORS] as const;

/** In the order in which they are checked: first the file alone, then its license in this installation. */
export const FILE_RULE_NAMES = [
  'format',
  'known_key',
  'trusted_key',
  'signature',
  'decryption',
  'contents',
  'clock',
  'license_term',
  'file_term',
  'not_revoked',
  'machine',
  'product',
  'known_here',
  'not_revoked_here',
  'in_term_here',
  'device_here',
] as const;

const { request: requestText, ttl_days } = activationAdminContract.activateOffline.request.shape;
const { license_file, license_key } = activationContract.validateOffline.request.shape;

export const airGapContract = {
  previewOfflineRequest: endpoint({
    method: 'POST',
    path: '/offline/preview/',
    auth: 'admin',
    summary: 'Preview an activation request without changing anything',
    request: z.object({ request: requestText }),
    reply: z.object({
      form: z.enum(['file', 'line']),
      license_key: z.string(),
      machine_fingerprint: z.string(),
      machine_name: z.string().nullable(),
      product_slug: z.string().nullable(),
      requested_at: timestamp,
      license: licenseObject.nullable(),
      activation: activation
        .nullable()
        .meta({ description: 'The activation, if the device is already active.' }),
      can_activate: z.boolean(),
      reason: z.enum(ACTIVATION_OBSTACLES).nullable(),
      message: z.string().nullable(),
    }),
    errors: [],
  }),
  explainLicenseFile: endpoint({
    method: 'POST',
    path: '/offline/explain/',
    auth: 'admin',
    summary: 'Check a license file and show the outcome of each rule; `at` sets the time of the check',
    request: z.object({
      license_file,
      license_key,
      machine_fingerprint: fingerprint.optional(),
      product_slug: slug.optional(),
      at: moment.optional(),
    }),
    reply: z.object({
      valid: z.boolean(),
      reason: z.enum([...VALIDATION_REASONS, 'not_a_license_file']).nullable(),
      rules: z.array(
        z.object({
          rule: z.enum(FILE_RULE_NAMES),
          outcome: z.enum(RULE_OUTCOMES),
          inputs: ruleInputs,
        }),
      ),
      license: licenseObject.nullable(),
      signed_at: timestamp.nullable(),
      file_expires_at: timestamp.nullable(),
    }),
    errors: [],
  }),
  issueLicenseFile: endpoint({
    method: 'POST',
    path: '/licenses/file/',
    auth: 'admin',
    summary: 'Issue a license file for one active device, or one that is not bound to a device',
    request: z.object({
      license: licenseRef,
      machine_fingerprint: fingerprint.optional(),
      ttl_days,
    }),
    reply: z.object({ license_file: z.string(), file_expires_at: timestamp }),
    errors: [
      'license_not_found',
      'license_revoked',
      'license_expired',
      'license_is_floating',
      'device_not_found',
    ],
    errorStatus: { license_revoked: 409, license_expired: 409 },
  }),
};

export type FileRuleName = (typeof FILE_RULE_NAMES)[number];
export type ActivationObstacle = (typeof ACTIVATION_OBSTACLES)[number];
