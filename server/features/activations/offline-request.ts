// Reads activation requests. They are untrusted input and validated like any activation.
import { type MachineRequest, parseMachineRequest } from '../../../verifier/machine-request.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { refusedField } from '#server/wire/errors.ts';
import { parseRequest } from '#server/platform/route.ts';
import { activationContract } from './activation-contract.ts';

export type Device = Omit<RequestOf<typeof activationContract.activate>, 'encrypt'>;

/** @param text a file, or the one line of a QR code. @throws ApiError `invalid_request` */
export function readMachineRequest(text: string): MachineRequest {
  const parsed = parseMachineRequest(text);
  if (parsed.kind !== 'request') throw refusedField('request', parsed.problem);
  return parsed.request;
}

/** @throws ApiError `invalid_request` */
export function deviceOf({ licenseKey, fingerprint, product, machineName }: MachineRequest): Device {
  return parseRequest(activationContract.activate, {
    license_key: licenseKey,
    machine_fingerprint: fingerprint,
    product_slug: product,
    machine_name: machineName,
  }) as Device;
}
