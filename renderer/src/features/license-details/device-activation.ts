// Activates a device for an administrator: the same call as from the device itself, through its offline request.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { adminClient } from '../../api/admin-client.ts';

interface Device {
  machine_fingerprint: string;
  machine_name?: string | null;
}

/** @returns the device's license file */
export async function activateDevice(
  license: Pick<LicenseRecord, 'license_key' | 'product'>,
  { machine_fingerprint: fingerprint, machine_name: machineName }: Device,
): Promise<string> {
  const { formatMachineRequest } = await import('../../../../verifier/machine-request.ts');
  const request = formatMachineRequest({
    licenseKey: license.license_key,
    fingerprint,
    nonce: crypto.randomUUID(),
    ...(machineName ? { machineName } : {}),
    product: license.product,
    issuedAt: Date.now(),
  });
  return (await adminClient.activateOffline({ request })).license_file;
}
