// Devices: activating them, validating their license files, releasing them.
import { z } from 'zod';
import { licenseObject, licenseRef } from '#server/features/licenses/license-contract.ts';
import { VALIDATION_REASONS } from '#server/rules/license-verdict.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { clientText, fingerprint, id, pageOf, pageRequest, slug, timestamp } from '#server/wire/fields.ts';

export type { RuleOutcome } from '#server/rules/license-verdict.ts';

/** The values that a rule compared, by name. */
export const ruleInputs = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]),
);

const licenseKey = z
  .string()
  .max(64)
  .meta({ description: 'License key. Case, spaces and hyphens do not matter.' });

/** The longest `machine_name`, in characters. */
export const MAX_MACHINE_NAME = 200;

/** Why a device cannot be activated. */
export const ACTIVATION_ERRORS = [
  'license_not_found',
  'license_revoked',
  'license_expired',
  'product_mismatch',
  'activation_limit_reached',
  'license_is_floating',
] as const;

export const activation = z
  .object({
    id,
    machine_fingerprint: z.string(),
    machine_name: z.string().nullable(),
    activated_at: timestamp,
  })
  .meta({ id: 'Activation' });

export const device = activation
  .extend({
    platform: z.string().nullable(),
    app_version: z.string().nullable(),
    released_at: timestamp.nullable(),
    last_seen_at: timestamp.nullable().meta({
      description:
        'When the device last activated, called `/authorize/` or validated its license file, to about five minutes; null if it has not.',
    }),
    replaces_device_id: id.nullable().meta({ description: 'The device whose seat this one took over.' }),
  })
  .meta({ id: 'Device' });

export const activationContract = {
  activate: endpoint({
    method: 'POST',
    path: '/activate/',
    auth: 'public',
    summary: 'Activate a device',
    request: z.object({
      license_key: licenseKey,
      machine_fingerprint: fingerprint,
      product_slug: slug.optional(),
      machine_name: clientText(MAX_MACHINE_NAME),
      platform: clientText(100),
      app_version: clientText(100),
      encrypt: z.boolean().default(false).meta({ description: 'Encrypts the license file for this device.' }),
    }),
    reply: z.object({ license: licenseObject, activation, license_file: z.string() }),
    errors: ACTIVATION_ERRORS,
  }),
  validateOffline: endpoint({
    method: 'POST',
    path: '/validate-offline/',
    auth: 'public',
    summary: 'Validate a license file',
    request: z.object({
      license_file: z.string().max(32_768),
      machine_fingerprint: fingerprint.optional(),
      product_slug: slug.optional(),
      license_key: licenseKey
        .optional()
        .meta({ description: 'Required, together with the fingerprint, for an encrypted file.' }),
    }),
    reply: z.object({
      valid: z.boolean(),
      reason: z.enum(VALIDATION_REASONS).nullable(),
      license: licenseObject.nullable(),
      signed_at: timestamp.nullable(),
      file_expires_at: timestamp.nullable(),
      license_file: z.string().optional(),
    }),
    errors: [],
  }),
};

export const activationAdminContract = {
  listDevices: endpoint({
    method: 'GET',
    path: '/licenses/devices/',
    auth: 'admin',
    summary: 'List the devices of a license, including released ones, newest first',
    request: z.object({ ref: licenseRef, ...pageRequest }),
    reply: z.object(pageOf(device)),
    errors: ['license_not_found'],
  }),
  releaseDevice: endpoint({
    method: 'POST',
    path: '/licenses/release/',
    auth: 'admin',
    summary: 'Release a device and free its seat',
    request: z.object({ ref: licenseRef, machine_fingerprint: fingerprint }),
    reply: z.object({ device }),
    errors: ['license_not_found', 'device_not_found'],
  }),
  replaceDevice: endpoint({
    method: 'POST',
    path: '/licenses/replace/',
    auth: 'admin',
    summary: 'Release a device and activate another one in its place',
    request: z.object({
      ref: licenseRef,
      machine_fingerprint: fingerprint.meta({ description: 'The device that is released.' }),
      new_machine_fingerprint: fingerprint.meta({ description: 'The device that takes its seat.' }),
      machine_name: clientText(MAX_MACHINE_NAME),
      platform: clientText(100),
      app_version: clientText(100),
      ttl_days: z.int().min(1).max(36_500).optional(),
      encrypt: z.boolean().default(false),
    }),
    reply: z.object({ device, released: device, license_file: z.string() }),
    errors: [
      'license_not_found',
      'license_revoked',
      'license_expired',
      'license_is_floating',
      'device_not_found',
      'device_replaced',
      'device_already_active',
    ],
  }),
  activateOffline: endpoint({
    method: 'POST',
    path: '/offline/activate/',
    auth: 'admin',
    summary: 'Activate an offline device from its activation request',
    request: z.object({
      request: z.string().max(16_384),
      ttl_days: z.int().min(1).max(36_500).optional(),
      encrypt: z.boolean().default(false),
    }),
    reply: z.object({
      license: licenseObject,
      activation,
      already_active: z
        .boolean()
        .meta({ description: 'Whether the device was active before, and keeps its activation.' }),
      license_file: z.string(),
      file_expires_at: timestamp,
    }),
    errors: ACTIVATION_ERRORS,
  }),
};

export type RuleInputs = z.input<typeof ruleInputs>;
export type ActivationObject = z.input<typeof activation>;
export type DeviceObject = z.input<typeof device>;
