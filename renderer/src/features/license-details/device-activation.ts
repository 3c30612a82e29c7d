// Activates a device for an administrator: the same call as from the device itself, through its offline request.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import type { activationAdminContract } from '#server/features/activations/activation-contract.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';
import { adminClient } from '../../api/admin-client.ts';

export type Activated = ReplyOf<typeof activationAdminContract.activateOffline>;

interface Device {
  machine_fingerprint: string;
  machine_name?: string | null;
}

/** Devices cannot be activated on a license in these states. */
export const isUnusable = (state: LicenseRecord['state']): state is 'expired' | 'revoked' =>
  state === 'expired' || state === 'revoked';

export async function activateDevice(
  license: Pick<LicenseRecord, 'license_key' | 'product'>,
  { machine_fingerprint: fingerprint, machine_name: machineName }: Device,
): Promise<Activated> {
  const { formatMachineRequest } = await import('../../../../verifier/machine-request.ts');
  const request = formatMachineRequest({
    licenseKey: license.license_key,
    fingerprint,
    nonce: crypto.randomUUID(),
    ...(machineName ? { machineName } : {}),
    product: license.product,
    issuedAt: Date.now(),
  });
  return adminClient.activateOffline({ request });
}
