// Licenses for integrators: order systems issue, look up, change and revoke them with an API token (contract, section 8).
import { z } from 'zod';
import { device } from '#server/features/activations/activation-contract.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { fingerprint, needsOneOf, pageOf, pageRequest, queryId, text } from '#server/wire/fields.ts';
import {
  licenseAdminContract,
  licenseFilter,
  licenseRecord,
  listedLicense,
  licenseRequest,
  reference,
} from '#server/features/licenses/license-contract.ts';
import { licenseChanges } from '#server/features/licenses/license-details-contract.ts';

const { state, plan, product, search } = licenseFilter;

/** How many devices of a license are shown with it. */
export const SHOWN_DEVICES = 500;

export const licenseApiContract = {
  listLicenses: endpoint({
    method: 'GET',
    path: '/licenses/',
    auth: 'bearer',
    summary: 'List licenses, newest first',
    request: z.object({ ...pageRequest, state, plan, product, search }),
    reply: z.object(pageOf(listedLicense)),
    errors: [],
  }),
  createLicense: endpoint({
    method: 'POST',
    path: '/licenses/',
    auth: 'bearer',
    role: 'admin',
    idempotent: true,
    summary: 'Issue a license',
    request: licenseAdminContract.createLicense.request,
    reply: z.object({ license: licenseRecord }),
    errors: ['plan_not_found', 'product_mismatch', 'license_is_node_locked'],
  }),
  updateLicense: endpoint({
    method: 'PUT',
    path: '/licenses/',
    auth: 'bearer',
    role: 'admin',
    summary:
      'Change the holder, email address, order number, notes, custom fields or seat limits of a license',
    request: licenseRequest(licenseChanges),
    reply: z.object({ license: licenseRecord }),
    errors: ['license_not_found', 'license_is_node_locked'],
  }),
  showLicense: endpoint({
    method: 'GET',
    path: '/licenses/show/',
    auth: 'bearer',
    summary: 'Show a license and its devices',
    request: needsOneOf(
      z.object({
        license_id: queryId.optional().meta({ description: 'License ID.' }),
        license_key: reference.license_key,
      }),
      'license_id',
      'license_key',
    ),
    reply: z.object({
      license: licenseRecord,
      devices: z.array(device).meta({
        description: `The newest ${SHOWN_DEVICES} devices, including released ones.`,
      }),
    }),
    errors: ['license_not_found'],
  }),
  revokeLicense: endpoint({
    method: 'POST',
    path: '/licenses/revoke/',
    auth: 'bearer',
    role: 'admin',
    idempotent: true,
    summary: 'Revoke a license permanently',
    request: licenseRequest({ reason: text(500).optional() }),
    reply: z.object({ license: licenseRecord }),
    errors: ['license_not_found'],
  }),
  releaseDevice: endpoint({
    method: 'POST',
    path: '/licenses/release/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Release a device and free its seat',
    request: licenseRequest({ machine_fingerprint: fingerprint }),
    reply: z.object({ device }),
    errors: ['license_not_found', 'device_not_found'],
  }),
};
